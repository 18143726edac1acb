import { type ReactNode, useRef, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Directory } from './directory.ts'
import { MatchResult } from './match-result.tsx'
import { inParts, readPeople } from './pasted-people.ts'
import { joined, type Preflight } from './preflight.ts'
import { askWhoMatches } from './queries.ts'

/** As many as one call takes, and as many as a person waits for. */
const partSize = 1_000
const maxPeople = 50_000

type Fault = 'empty' | 'noNames' | 'large'

/** Who the people of a list would be here, before the directory sends them. */
export function MatchSection({ directory: { id } }: { directory: Directory }): ReactNode {
  const words = useSetUpWords().directories.match
  const act = useAct()
  const [text, setText] = useState('')
  const [fault, setFault] = useState<Fault>()
  const [progress, setProgress] = useState<{ done: number; total: number }>()
  const [found, setFound] = useState<Preflight>()

  const latest = useRef(text)

  const change = (next: string) => {
    latest.current = next
    setText(next)
    setFault(undefined)
    setFound(undefined)
  }
  const ask = async () => {
    act.clear()
    setFound(undefined)
    const { default: papa } = await import('papaparse')
    const pasted = readPeople(papa.parse<string[]>(text, { skipEmptyLines: 'greedy' }).data)
    if ('fault' in pasted) return setFault(pasted.fault)
    const { people } = pasted
    if (people.length > maxPeople) return setFault('large')
    await act.run(async () => {
      const parts: Preflight[] = []
      for (const part of inParts(people, partSize)) {
        setProgress({ done: parts.length * partSize, total: people.length })
        parts.push(await askWhoMatches(id, part))
      }
      // The list may be another one by now.
      if (latest.current === text) setFound(joined(parts))
    }, text)
    setProgress(undefined)
  }
  return (
    <Section title={words.title}>
      <Card className="grid gap-4">
        <p className="sound-width text-text-2">{words.intro}</p>
        <Form className="grid gap-4" submit={ask} aria-label={words.title}>
          <Field
            label={words.list}
            hint={words.hint}
            error={fault && words.faults[fault]}
            lines={5}
            value={text}
            onChange={change}
          />
          <label className="grid min-w-0 justify-items-start gap-1 text-body font-medium">
            {words.file}
            <input
              type="file"
              accept=".csv,.txt,text/csv,text/plain"
              className="w-full min-w-0 text-body font-normal text-text-2 file:mr-3 file:h-8 file:rounded-control file:border file:border-solid file:border-control file:bg-surface file:px-3 file:font-medium file:text-text touch:file:h-11"
              onChange={async ({ target }) => {
                const [file] = target.files ?? []
                if (file !== undefined) change(await file.text())
              }}
            />
          </label>
          <div>
            <Button type="submit" isPending={act.isPending}>
              {words.see}
            </Button>
          </div>
        </Form>
        {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
        <ActProblem act={act} />
        <div role="status" className="grid gap-4">
          {progress !== undefined && progress.total > partSize && (
            <p className="text-text-2">{words.progress(progress.done, progress.total)}</p>
          )}
          {found !== undefined && <MatchResult found={found} />}
        </div>
      </Card>
    </Section>
  )
}
