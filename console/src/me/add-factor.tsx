import { type ReactNode, useState } from 'react'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { AppSetup } from './app-setup.tsx'
import { canMakePasskey, makePasskey } from './passkey.ts'
import { type BegunFactor, beginFactor, confirmFactor } from './queries.ts'

export type Added = { name: string; codes: readonly string[] | undefined }

/** Sets up a further second factor. `onAdded` gets its recovery codes if it is the first. */
export function AddFactor({ onAdded }: { onAdded: (added: Added) => unknown }): ReactNode {
  const words = useWords().me.factors
  const act = useAct()
  const [name, setName] = useState('')
  const [begun, setBegun] = useState<BegunFactor>()
  const [failure, setFailure] = useState<string>()
  const nameOf = (kind: BegunFactor['kind']) => name.trim() || words.kinds[kind]

  const added = async ({ factor, recovery_codes }: Awaited<ReturnType<typeof confirmFactor>>) => {
    setBegun(undefined)
    setName('')
    await onAdded({ name: factor.name, codes: recovery_codes })
  }
  const addApp = () => act.run(async () => setBegun(await beginFactor('totp', nameOf('totp'))))
  const addPasskey = () => {
    setFailure(undefined)
    return act.run(async () => {
      const { id, passkey } = await beginFactor('passkey', nameOf('passkey'))
      const made = await makePasskey(passkey).catch((thrown: unknown) => {
        if (!(thrown instanceof DOMException)) throw thrown
        setFailure(thrown.name === 'InvalidStateError' ? words.passkeyKnown : words.passkeyFailed)
      })
      if (made !== undefined) await added(await confirmFactor(id, { passkey: made }))
    })
  }
  if (begun?.totp !== undefined)
    return (
      <AppSetup
        id={begun.id}
        totp={begun.totp}
        expiresAt={begun.expires_at}
        onAdded={added}
        close={() => setBegun(undefined)}
      />
    )
  const canAddPasskey = canMakePasskey()
  return (
    <div className="grid max-w-[480px] gap-3">
      <Field label={words.name} hint={words.nameHint} value={name} maxLength={200} onChange={setName} />
      {failure !== undefined && (
        <p role="alert" className="text-bad">
          {failure}
        </p>
      )}
      <ActProblem act={act} />
      <div className="flex flex-wrap gap-2">
        <Button isPending={act.isPending} onClick={addApp}>
          {words.addApp}
        </Button>
        {canAddPasskey && (
          <Button isPending={act.isPending} onClick={addPasskey}>
            {words.addPasskey}
          </Button>
        )}
      </div>
      {!canAddPasskey && <p className="text-meta text-text-2">{words.noPasskeys}</p>}
    </div>
  )
}
