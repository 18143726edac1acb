import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Copy } from '../parts/copy.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { saveFile } from '../parts/save-file.ts'
import { sentenceOf } from '../parts/sentence.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { SetUp } from './connection.ts'

/** Names, the same in every language. */
const names = { cloudformation: 'CloudFormation', terraform: 'Terraform' } as const

type OneSnippet = SetUp['snippets'][number]

/** What to make in AWS, which nobody can read again: one snippet, in either form. */
export function Snippet({ setUp: { identity, note, snippets } }: { setUp: SetUp }): ReactNode {
  const words = useSetUpWords().aws.role
  const [kind, choose] = useState(snippets[0]?.kind)
  const snippet = snippets.find((one) => one.kind === kind)
  return (
    <>
      {identity !== null && (
        <p className="wrap-anywhere">
          {words.identity} <code className="font-mono text-meta break-all">{identity}</code>
        </p>
      )}
      {note !== null && (
        <p className="sound-width rounded-control bg-wait-tint p-3 text-wait wrap-anywhere">
          <EnglishText>{sentenceOf(note)}</EnglishText>
        </p>
      )}
      {snippet !== undefined && (
        <>
          <p className="sound-width text-text-2">{words.trusts}</p>
          <p className="sound-width rounded-control bg-wait-tint p-3 font-medium text-wait">{words.once}</p>
          <Choice
            label={words.form}
            value={snippet.kind}
            options={snippets.map((one) => ({ value: one.kind, text: names[one.kind] }))}
            onChange={(value) => choose(snippets.find((one) => one.kind === value)?.kind)}
          />
          <Text key={snippet.kind} snippet={snippet} />
        </>
      )}
    </>
  )
}

function Text({ snippet: { file_name, text, apply } }: { snippet: OneSnippet }): ReactNode {
  const words = useSetUpWords().aws.role
  const command = apply.join(' ')
  return (
    <>
      <Scrolling label={words.snippet} className="max-h-80">
        {text}
      </Scrolling>
      <div className="flex flex-wrap gap-2">
        <Copy text={text} label={words.copy} look="outline" />
        <Button onClick={() => saveFile(file_name, new Blob([text], { type: 'text/plain' }))}>
          <Download size={16} strokeWidth={1.75} aria-hidden="true" />
          {words.download(file_name)}
        </Button>
      </div>
      <p className="sound-width text-text-2">{words.run}</p>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-2">
        <Scrolling label={words.command} wraps>
          {command}
        </Scrolling>
        <Copy text={command} label={words.copyCommand} />
      </div>
    </>
  )
}

type ScrollingProps = { label: string; wraps?: boolean; className?: string; children: string }

/** Text as it is, in a box that scrolls by keyboard too. */
function Scrolling({ label, wraps = false, className = '', children }: ScrollingProps): ReactNode {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus to scroll by keyboard.
      tabIndex={0}
      className={`overflow-auto rounded-control border border-line bg-sunken ${className}`}
    >
      <pre className={`p-3 font-mono text-meta ${wraps ? 'whitespace-pre-wrap wrap-anywhere' : 'w-fit'}`}>
        {children}
      </pre>
    </section>
  )
}
