import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { readNumber } from '../resources/account.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type Answers, configOf, readRegion, regions } from './answers.ts'
import { connect } from './queries.ts'
import { keepSetUp } from './shown-once.ts'

/** The three answers. What to make in AWS is shown next, on the page of the connection. */
export function ConnectForm({ look = 'primary' }: { look?: 'primary' | 'outline' }): ReactNode {
  const words = useSetUpWords().aws.answers
  const queries = useQueryClient()
  const navigate = useNavigate()
  const act = useAct()
  const listId = useId()
  const [answers, setAnswers] = useState<Answers>({ region: '', account: '' })
  const [isTried, setTried] = useState(false)
  const change = (part: Partial<Answers>) => setAnswers((before) => ({ ...before, ...part }))
  const { region, account } = answers

  const go = async () => {
    setTried(true)
    const config = configOf(answers)
    if (config === undefined) return act.clear()
    await act.run(async (key) => {
      const { id, set_up } = await connect(config, key)
      keepSetUp(id, set_up)
      await queries.invalidateQueries({ queryKey: ['provisioner'] })
      await navigate({ to: '/aws', search: { connection: id } })
    }, config)
  }
  return (
    <div className="grid max-w-[480px] gap-4">
      <Form className="grid gap-4" submit={go} aria-label={words.form}>
        <Field
          label={words.region}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          list={listId}
          hint={words.regionHint}
          error={isTried && readRegion(region) === undefined ? words.regionWrong : undefined}
          value={region}
          onChange={(next) => change({ region: next })}
        />
        <datalist id={listId}>
          {regions.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field
          label={words.account}
          autoComplete="off"
          inputMode="numeric"
          hint={words.accountHint}
          error={isTried && readNumber(account) === undefined ? words.accountWrong : undefined}
          value={account}
          onChange={(next) => change({ account: next })}
        />
        <div>
          <Button type="submit" look={look} isPending={act.isPending}>
            {words.go}
          </Button>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      <ActProblem act={act} />
    </div>
  )
}
