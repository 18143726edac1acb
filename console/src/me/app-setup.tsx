import { type ReactNode, useState } from 'react'
import { faultOf } from '../api/faults.ts'
import { useAct } from '../parts/act.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Moment } from '../time/moment.tsx'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { digitsOf, inFours, isAppLink } from './factor.ts'
import { type BegunFactor, confirmFactor, removeFactor } from './queries.ts'

type AppSetupProps = {
  id: string
  totp: NonNullable<BegunFactor['totp']>
  expiresAt: string
  onAdded: (confirmed: Awaited<ReturnType<typeof confirmFactor>>) => Promise<unknown>
  close: () => void
}

/** Shows the secret of an authenticator app, and confirms it by the app's first code. */
export function AppSetup({ id, totp, expiresAt, onAdded, close }: AppSetupProps): ReactNode {
  const { me, signIn, actions } = useWords()
  const words = me.factors
  const act = useAct()
  const [code, setCode] = useState('')
  const [fault, setFault] = useState<string>()

  const confirm = async () => {
    const digits = digitsOf(code)
    setFault(digits.length === 6 ? undefined : signIn.codeHint)
    if (digits.length !== 6) return act.clear()
    await act.run(async () => onAdded(await confirmFactor(id, { totp: digits })))
  }
  const cancel = () => {
    close()
    // What is not confirmed ends by itself.
    removeFactor(id).catch(() => undefined)
  }
  const wrong = fault ?? faultOf(act.error, '/totp')
  return (
    <Form className="grid max-w-[480px] gap-4" submit={confirm}>
      <h3 className="font-semibold">{words.appTitle}</h3>
      <p>{words.secretIntro}</p>
      <div className="flex items-center gap-2 rounded-control bg-sunken px-3 py-2">
        <code className="min-w-0 flex-1 font-mono text-sentence wrap-anywhere">{inFours(totp.secret)}</code>
        <Copy text={totp.secret} label={words.copySecret} />
      </div>
      {isAppLink(totp.uri) && (
        <div>
          <a href={totp.uri} className={buttonClass('outline')}>
            {words.openApp}
          </a>
        </div>
      )}
      <Field
        label={signIn.code}
        hint={signIn.codeHint}
        error={wrong}
        value={code}
        onChange={setCode}
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
      />
      <p className="text-meta text-text-2">
        {words.confirmBy} <Moment at={expiresAt} />
      </p>
      {wrong === undefined && <ActProblem act={act} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" isPending={act.isPending}>
          {words.confirm}
        </Button>
        <Button onClick={cancel}>{actions.cancel}</Button>
      </div>
    </Form>
  )
}
