import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Form } from '../parts/form.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { type Mails, mailsQuery, saveMails } from './queries.ts'

type Kind = keyof Mails['kinds']

/** Which notifications are mailed to the person. */
export function MailsSection(): ReactNode {
  const words = useWords().me.mails
  const { data, error, refetch } = useQuery(mailsQuery)
  return (
    <Section title={words.title}>
      <Card>
        {data !== undefined && <MailsForm stored={data} />}
        {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      </Card>
    </Section>
  )
}

function MailsForm({ stored: { record, tag } }: { stored: Tagged<Mails> }): ReactNode {
  const words = useWords().me.mails
  const queries = useQueryClient()
  const act = useAct()
  const [edited, setEdited] = useState<Partial<Mails['kinds']>>({})
  const { address, obstacle } = record.mail
  const kinds = { ...record.kinds, ...edited }

  const save = async () => {
    const isSaved = await act.run(() => saveMails(kinds, tag))
    await queries.invalidateQueries({ queryKey: mailsQuery.queryKey })
    if (!isSaved) return
    setEdited({})
    toast(words.saved)
  }
  return (
    <Form className="grid gap-4" submit={save}>
      {obstacle !== undefined && (
        <p className="rounded-control bg-wait-tint p-3 text-wait">{words.obstacles[obstacle]}</p>
      )}
      <fieldset className="grid gap-2">
        <legend className="mb-2 text-text-2 wrap-anywhere">{words.intro(address)}</legend>
        {(Object.keys(words.kinds) as Kind[]).map((kind) => (
          <label key={kind} className="flex items-start gap-3 touch:min-h-11 touch:items-center">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent touch:mt-0 touch:size-5"
              checked={kinds[kind].mail}
              onChange={({ target }) => setEdited((before) => ({ ...before, [kind]: { mail: target.checked } }))}
            />
            {words.kinds[kind]}
          </label>
        ))}
      </fieldset>
      <ActProblem act={act} />
      <div>
        <Button type="submit" isPending={act.isPending}>
          {words.save}
        </Button>
      </div>
    </Form>
  )
}
