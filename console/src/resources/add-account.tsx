import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { type AccountEntry, accountOf, environments, readNumber } from './account.ts'
import { accountsQuery, addAccount } from './queries.ts'

const empty = { name: '', number: '', chosen: 'production', other: '' }

/** Adds one account. Those that are there stay as they are. */
export function AddAccount(): ReactNode {
  const words = useSetUpWords().resources
  const queries = useQueryClient()
  const act = useAct()
  const [entry, setEntry] = useState(empty)
  const [isTried, setTried] = useState(false)
  /** The account that has the entered number. */
  const [taken, setTaken] = useState<{ number: string; name: string }>()
  const { name, chosen, other } = entry
  const number = readNumber(entry.number)
  const environment = chosen === '' ? other : chosen
  const faults = {
    name: name.trim() === '' ? words.nameNeeded : undefined,
    number: number === undefined ? words.numberWrong : undefined,
    environment: environment.trim() === '' ? words.environmentNeeded : undefined,
  }
  const shown = isTried ? faults : undefined
  const isTaken = taken !== undefined && taken.number === number
  const change = (part: Partial<typeof empty>) => setEntry((before) => ({ ...before, ...part }))

  const add = (wanted: AccountEntry) =>
    act.run(async () => {
      const account = accountOf(wanted)
      const there = await addAccount(account)
      await queries.invalidateQueries({ queryKey: accountsQuery.queryKey })
      if (there !== undefined) return setTaken({ number: account.account_id, name: there.name })
      toast(words.added(account.name))
      setEntry({ ...empty, chosen, other })
      setTried(false)
    }, wanted)
  const send = async () => {
    setTried(true)
    setTaken(undefined)
    if (number === undefined || faults.name !== undefined || faults.environment !== undefined) return act.clear()
    await add({ name, number, environment })
  }
  return (
    <div className="grid max-w-[480px] gap-4">
      <Form className="grid gap-4" submit={send} aria-label={words.add}>
        <h3 className="font-semibold">{words.add}</h3>
        <Field
          label={words.name}
          autoComplete="off"
          maxLength={200}
          hint={words.nameHint}
          error={shown?.name}
          value={name}
          onChange={(next) => change({ name: next })}
        />
        <Field
          label={words.number}
          autoComplete="off"
          inputMode="numeric"
          hint={words.numberHint}
          error={isTaken ? words.numberTaken(taken.name) : shown?.number}
          value={entry.number}
          onChange={(next) => change({ number: next })}
        />
        <Environment
          chosen={chosen}
          other={other}
          error={shown?.environment}
          choose={(next) => change({ chosen: next })}
          name={(next) => change({ other: next })}
        />
        <div>
          <Button type="submit" isPending={act.isPending}>
            {words.send}
          </Button>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      <ActProblem act={act} />
    </div>
  )
}

type EnvironmentProps = {
  /** Empty: another one, which the person names. */
  chosen: string
  other: string
  error: string | undefined
  choose: (environment: string) => void
  name: (environment: string) => void
}

/** By what rules tell accounts apart. */
function Environment({ chosen, other, error, choose, name }: EnvironmentProps): ReactNode {
  const words = useSetUpWords().resources
  const isOther = chosen === ''
  return (
    <div className="grid gap-2">
      <Choice
        label={words.environment}
        value={chosen}
        options={[
          // They are tags, as rules name them: the same in every language.
          ...environments.map((value) => ({ value, text: value })),
          { value: '', text: words.otherEnvironment },
        ]}
        onChange={choose}
      />
      {!isOther && <p className="text-meta text-text-2">{words.environmentHint}</p>}
      {isOther && (
        <Field
          label={words.environmentName}
          autoComplete="off"
          maxLength={100}
          hint={words.environmentHint}
          error={error}
          value={other}
          onChange={name}
        />
      )}
    </div>
  )
}
