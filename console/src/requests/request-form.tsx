import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Choice } from '../access/choice.ts'
import { FavouriteToggle } from '../access/favourite-toggle.tsx'
import { entriesOfQuery } from '../access/queries.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Choice as Chips } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card } from '../parts/page.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'
import { DurationField } from './duration-field.tsx'
import { previewQuery, sendRequest } from './queries.ts'
import { readableId } from './request.ts'
import { type Entries, useRequestEntry } from './request-entry.ts'
import { VerdictLine } from './verdict-line.tsx'

type RequestFormProps = {
  choice: Choice
  /** Takes another action on the same resource. */
  change: (choice: Choice) => unknown
  leave: () => unknown
  sent: (id: string) => unknown
}

/** The form of a request, in the place of the search: action, time, reason, and the answer before it is sent. */
export function RequestForm(props: RequestFormProps): ReactNode {
  const { choice, leave } = props
  const { form: words, verdict } = useWords().requests
  const { data: entries, error, refetch } = useQuery(entriesOfQuery({ type: choice.type, id: choice.id }))
  const name = entries?.[0]?.resource_name ?? readableId(choice.id)
  return (
    <Card className="grid gap-4">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <h2 className="text-title font-semibold wrap-anywhere">{words.to(name)}</h2>
        <span className="flex flex-wrap gap-2">
          {choice.action !== undefined && <FavouriteToggle resource={choice} action={choice.action} />}
          <Button look="quiet" onClick={() => leave()}>
            {words.back}
          </Button>
        </span>
      </div>
      {error !== null && <LoadFailure error={error} retry={refetch} />}
      {error === null && entries === undefined && <Loading />}
      {entries !== undefined &&
        (choice.action === undefined && entries.length === 0 ? (
          <p>{verdict.notAllowed}</p>
        ) : (
          <Fields {...props} entries={entries} />
        ))}
    </Card>
  )
}

function Fields({ choice, change, sent, entries }: RequestFormProps & { entries: Entries }): ReactNode {
  const words = useWords()
  const { form } = words.requests
  const queries = useQueryClient()
  const entry = useRequestEntry(choice, entries)
  const { action, seconds, isEmergency, needsReason } = entry
  const { data: preview } = useQuery(previewQuery(entry.question))
  const [isReasonMissing, setReasonMissing] = useState(false)
  const act = useAct()

  const send = async () => {
    setReasonMissing(entry.lacksReason)
    if (entry.lacksReason || seconds === undefined) return
    await act.run(async (key) => {
      const { id, status } = await sendRequest(entry.request, key)
      entry.clearReason()
      toast(status === 'pending' ? words.requests.sent.pending : words.requests.sent.approved)
      await queries.invalidateQueries({ queryKey: ['request'] })
      sent(id)
    }, entry.request)
  }
  return (
    <Form className="grid gap-4" submit={send}>
      <Chips
        label={form.action}
        value={action}
        options={actionsOf(entries, action)}
        onChange={(value) => change({ type: choice.type, id: choice.id, action: value })}
      />
      {entry.description != null && <p className="sound-width text-text-2">{entry.description}</p>}
      <DurationField usual={entry.usual} longest={entry.longest} value={seconds} onChange={entry.setSeconds} />
      <Field
        label={isEmergency ? form.emergencyReason : needsReason ? form.reason : form.reasonOptional}
        hint={form.reasonHint}
        error={isReasonMissing && entry.lacksReason ? form.reasonNeeded : undefined}
        lines={2}
        value={entry.reason}
        onChange={entry.setReason}
      />
      {isEmergency && <p className="rounded-control bg-emergency-tint p-3 text-emergency">{form.emergencyTold}</p>}
      <VerdictLine
        input={entry.question}
        apply={({ duration_seconds, action: other }) => {
          if (duration_seconds !== undefined) entry.setSeconds(duration_seconds)
          if (other !== undefined) change({ type: choice.type, id: choice.id, action: other })
        }}
      />
      <div>
        <Button look="quiet" className="-ml-3" onClick={() => entry.setEmergency(!isEmergency)}>
          {isEmergency ? form.notEmergency : form.emergency}
        </Button>
      </div>
      {act.error !== undefined && <Problem error={act.error} />}
      <div className="sticky bottom-14 -mx-4 grid border-t border-line bg-surface px-4 py-3 sm:static sm:m-0 sm:justify-items-start sm:border-0 sm:p-0">
        <Button
          type="submit"
          look="primary"
          isPending={act.isPending}
          disabled={seconds === undefined || preview?.allowed === false}
        >
          {isEmergency ? form.emergencySend : form.send}
        </Button>
      </div>
    </Form>
  )
}

/** The actions that may be requested, and the one in the address though it may not be. */
function actionsOf(entries: Entries, action: string) {
  const names = entries.map((entry) => entry.action)
  const all = names.includes(action) || action === '' ? names : [...names, action]
  return all.map((name) => ({ value: name, text: name }))
}
