import type { Schemas } from '@sallyport/client'
import type { ReactNode } from 'react'
import { buttonClass } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { useWords } from '../words/words.ts'

type ConnectProps = { connect: Schemas['Connect'] | null | undefined }

/** How to use the access: the way that most take as a button, the rest folded. */
export function Connect({ connect }: ConnectProps): ReactNode {
  const words = useWords()
  if (connect == null) return null
  const { summary, links, fields, commands, files } = connect
  const [first] = links
  return (
    <div className="grid gap-2">
      <p className="wrap-anywhere">
        <EnglishText>{summary}</EnglishText>
      </p>
      <div className="flex flex-wrap gap-2">
        {first !== undefined && isWebAddress(first.url) ? (
          <a href={first.url} target="_blank" rel="noreferrer noopener" className={buttonClass('primary')}>
            {words.access.open(first.label)}
          </a>
        ) : (
          commands[0] !== undefined && (
            <Copy look="primary" text={commands[0].text} label={words.actions.copy(commands[0].label)} />
          )
        )}
      </div>
      {fields.length + commands.length + files.length > 0 && (
        <details>
          <summary className="w-fit rounded-control text-accent">{words.access.connect}</summary>
          <dl className="mt-2 grid gap-2">
            {fields.map(({ label, value }) => (
              <Line key={label} label={label} text={value} />
            ))}
            {commands.map(({ label, text }) => (
              <Line key={label} label={label} text={text} />
            ))}
            {files.map(({ label, path, lines }) => (
              <Line key={path} label={`${label}: ${path}`} text={lines.join('\n')} />
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

/** A target's configuration may hold any text; only web addresses become links. */
const isWebAddress = (url: string) => /^https?:\/\//i.test(url)

function Line({ label, text }: { label: string; text: string }): ReactNode {
  const words = useWords()
  return (
    <div className="grid gap-1">
      <dt className="text-meta text-text-2">
        <EnglishText>{label}</EnglishText>
      </dt>
      <dd className="flex items-start gap-1">
        <pre
          // Long lines scroll, also by keyboard.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable
          tabIndex={0}
          className="min-w-0 grow overflow-x-auto rounded-control bg-sunken px-2 py-1.5 font-mono text-meta"
        >
          {text}
        </pre>
        <Copy text={text} label={words.actions.copy(label)} />
      </dd>
    </div>
  )
}
