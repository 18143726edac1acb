import { type ReactNode, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords } from '../words/words.ts'
import { signWithPasskey } from './passkey.ts'
import { finishSignIn, type SecondStep } from './sign-in-calls.ts'

type Method = 'passkey' | 'totp' | 'recovery_code'

type SecondFactorProps = { step: SecondStep; onSignedIn: () => void; back: () => void }

/** The second step of a sign-in: the ways that the person has, the strongest first. */
export function SecondFactor({ step, onSignedIn, back }: SecondFactorProps): ReactNode {
  const words = useWords().signIn
  const methods = (['passkey', 'totp', 'recovery_code'] as const).filter((method) => step.methods.includes(method))
  const [method, setMethod] = useState<Method>(methods[0] ?? 'recovery_code')
  const [code, setCode] = useState('')
  const [failure, setFailure] = useState<Error | string>()
  const [isPending, setPending] = useState(false)

  const prove = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      const accepted = await finishSignIn(step.challenge, await answerBy(method, code, step))
      if (accepted) return onSignedIn()
      if (performance.now() > step.expiresAt) setFailure(words.challengeOver)
      else setFailure(method === 'passkey' ? words.passkeyFailed : words.codeWrong)
    } catch (error) {
      setFailure(method === 'passkey' && error instanceof DOMException ? words.passkeyFailed : (error as Error))
    } finally {
      setPending(false)
    }
  }
  const names = { passkey: words.usePasskey, totp: words.useCode, recovery_code: words.useRecovery }
  const wrong = typeof failure === 'string' ? failure : undefined

  return (
    <Form className="grid gap-4" submit={prove}>
      <h2 className="text-sentence font-semibold">{words.secondTitle}</h2>
      {method !== 'passkey' && (
        <Field
          key={method}
          label={method === 'totp' ? words.code : words.recovery}
          hint={method === 'totp' ? words.codeHint : words.recoveryHint}
          error={wrong}
          value={code}
          onChange={setCode}
          inputMode={method === 'totp' ? 'numeric' : 'text'}
          autoComplete="one-time-code"
          autoFocus
        />
      )}
      {method === 'passkey' && wrong !== undefined && (
        <p role="alert" className="text-bad">
          {wrong}
        </p>
      )}
      {failure instanceof Error && <Problem error={failure} />}
      <Button type="submit" look="primary" isPending={isPending}>
        {method === 'passkey' ? words.usePasskey : words.confirm}
      </Button>
      <div className="flex flex-wrap gap-2">
        {methods
          .filter((other) => other !== method)
          .map((other) => (
            <Button
              key={other}
              look="quiet"
              onClick={() => {
                setMethod(other)
                setCode('')
                setFailure(undefined)
              }}
            >
              {names[other]}
            </Button>
          ))}
        <Button look="quiet" onClick={back}>
          {words.back}
        </Button>
      </div>
    </Form>
  )
}

async function answerBy(method: Method, code: string, step: SecondStep) {
  if (method === 'passkey') return { passkey: await signWithPasskey(step.passkey) }
  return method === 'totp' ? { totp: code.replaceAll(/\s/g, '') } : { recovery_code: code.trim() }
}
