import { type ReactNode, useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Problem } from '../parts/problem.tsx'
import { useWords, type Words } from '../words/words.ts'
import { type Organization, readOrganization } from './organization.ts'
import { type Remembered, readRemembered, remember } from './remembered.ts'
import { SecondFactor } from './second-factor.tsx'
import { findTenant, type SecondStep, signInAtProvider, signInByPassword } from './sign-in-calls.ts'

type SignInProps = {
  /** Why the person is asked. */
  because?: string | undefined
  onSignedIn: () => void
}

type Entry = { email: string; organization: string; passphrase: string }
type Faults = Partial<Record<keyof Entry, string>>

/** Signs a person in: by password, with a second factor where they have one, or at the provider of their organization. */
export function SignIn({ because, onSignedIn }: SignInProps): ReactNode {
  const [step, setStep] = useState<SecondStep>()
  return step === undefined ? (
    <FirstStep because={because} onSignedIn={onSignedIn} onSecondStep={setStep} />
  ) : (
    <SecondFactor step={step} onSignedIn={onSignedIn} back={() => setStep(undefined)} />
  )
}

function FirstStep({
  because,
  onSignedIn,
  onSecondStep,
}: SignInProps & { onSecondStep: (step: SecondStep) => void }): ReactNode {
  const words = useWords().signIn
  const remembered = readRemembered()
  const [entry, setEntry] = useState<Entry>({
    email: remembered?.email ?? '',
    organization: new URLSearchParams(location.search).get('organization') ?? remembered?.organization ?? '',
    passphrase: '',
  })
  const [faults, setFaults] = useState<Faults>({})
  const [failure, setFailure] = useState<Error | string | undefined>(() => failureAtProvider(words))
  const [isPending, setPending] = useState(false)
  const change = (part: keyof Entry) => (text: string) => setEntry((before) => ({ ...before, [part]: text }))

  const signIn = async (atProvider: boolean) => {
    const email = entry.email.trim()
    const organization = tenantOf(entry.organization, email, remembered)
    const wrong = {
      ...(!email.includes('@') && { email: words.needsEmail }),
      ...(organization === undefined && { organization: words.needsOrganization }),
    }
    setFaults(wrong)
    setFailure(undefined)
    if (organization === undefined || Object.keys(wrong).length > 0) return
    const { tenant_id, sign_in } = await findTenant(organization)
    if (atProvider || (sign_in === 'provider' && entry.passphrase === '')) {
      remember({ tenant_id, organization: entry.organization.trim(), email })
      if (!(await signInAtProvider(tenant_id))) setFailure(words.providerRefused)
      return
    }
    if (entry.passphrase === '') return setFaults({ passphrase: words.needsPassphrase })
    const outcome = await signInByPassword(tenant_id, email, entry.passphrase)
    if (outcome.kind === 'refused') return setFailure(words.wrong)
    remember({ tenant_id, organization: entry.organization.trim(), email })
    if (outcome.kind === 'second step') return onSecondStep(outcome.step)
    onSignedIn()
  }
  const submit = async (atProvider = false) => {
    setPending(true)
    await signIn(atProvider).catch((error: unknown) => setFailure(error as Error))
    setPending(false)
  }
  const field = (part: keyof Entry) => ({ value: entry[part], onChange: change(part), error: faults[part] })

  return (
    <Form className="grid gap-4" submit={() => submit()}>
      {because !== undefined && <p>{because}</p>}
      <Field label={words.email} type="email" name="email" autoComplete="username" autoFocus {...field('email')} />
      <Field
        label={words.passphrase}
        type="password"
        name="password"
        autoComplete="current-password"
        {...field('passphrase')}
      />
      <Field
        label={words.organization}
        hint={words.organizationHint}
        name="organization"
        autoComplete="organization"
        {...field('organization')}
      />
      {typeof failure === 'string' ? (
        <p role="alert" className="text-bad">
          {failure}
        </p>
      ) : (
        failure !== undefined && <Problem error={failure} />
      )}
      <Button type="submit" look="primary" isPending={isPending}>
        {words.signIn}
      </Button>
      <Button look="quiet" isPending={isPending} onClick={() => submit(true)}>
        {words.provider}
      </Button>
    </Form>
  )
}

/** Whoever signs in here again, and names no organization, means that of the last time. */
function tenantOf(entry: string, email: string, remembered: Remembered | undefined): Organization {
  if (entry.trim() === '' && remembered?.email === email) return { tenant_id: remembered.tenant_id }
  return readOrganization(entry, email)
}

/** Why the provider led back without a sign-in, as the address says it. It is said once. */
function failureAtProvider(words: Words['signIn']): string | undefined {
  const reason = new URLSearchParams(location.search).get('sign-in')
  if (reason === 'failed') return words.providerRefused
  return reason === 'not-set' ? words.providerNotSet : undefined
}
