import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { faultOf } from '../api/faults.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Card, Section } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { useMe } from './me.ts'
import { changePassword } from './queries.ts'

const empty = { present: '', next: '' }

/** Changes the passphrase of a local user. */
export function PasswordSection(): ReactNode {
  const words = useWords().me.password
  const me = useMe()
  const queries = useQueryClient()
  const act = useAct()
  const [entry, setEntry] = useState(empty)
  const [isTried, setTried] = useState(false)
  const missing = {
    present: isTried && entry.present === '' ? words.presentNeeded : undefined,
    next: isTried && entry.next === '' ? words.nextNeeded : undefined,
  }
  const faults = {
    present: missing.present ?? faultOf(act.error, '/current_password'),
    next: missing.next ?? faultOf(act.error, '/new_password'),
  }
  const change = async () => {
    setTried(true)
    if (entry.present === '' || entry.next === '') return act.clear()
    const body = { current_password: entry.present, new_password: entry.next }
    if (!(await act.run(() => changePassword(body)))) return
    setEntry(empty)
    setTried(false)
    toast(words.changed)
    await queries.invalidateQueries({ queryKey: ['me'] })
  }
  return (
    <Section title={words.title}>
      <Card>
        <Form className="grid max-w-[480px] gap-4" submit={change}>
          {/* Password managers read from it whose passphrase this is. */}
          <input type="text" name="username" autoComplete="username" value={me.email} readOnly hidden />
          <Field
            label={words.present}
            type="password"
            name="current-password"
            autoComplete="current-password"
            error={faults.present}
            value={entry.present}
            onChange={(present) => setEntry({ ...entry, present })}
          />
          <Field
            label={words.next}
            type="password"
            name="new-password"
            autoComplete="new-password"
            hint={words.nextHint}
            error={faults.next}
            value={entry.next}
            onChange={(next) => setEntry({ ...entry, next })}
          />
          {faults.present === undefined && faults.next === undefined && <ActProblem act={act} />}
          <div>
            <Button type="submit" isPending={act.isPending}>
              {words.change}
            </Button>
          </div>
        </Form>
      </Card>
    </Section>
  )
}
