import { answerOf, type Schemas } from '@sallyport/client'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { api } from '../api/api.ts'
import { useMe } from '../me/me.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { Problem } from '../parts/problem.tsx'
import { nameOf } from '../requests/request.ts'
import { WithSetUpWords } from '../start/with-set-up-words.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'

type Credentials = Schemas['GrantCredentials']

type SignInPasswordProps = { grant: Schemas['GrantDetail'] }

/** A password for the login that was made for a grant, for its holder while it lasts. It is shown once: another one ends it. */
export function SignInPassword({ grant }: SignInPasswordProps): ReactNode {
  const isHolder = useMe().id === grant.user_id
  if (!isHolder || grant.status !== 'active') return null
  return (
    <WithSetUpWords>
      <Password grant={grant} />
    </WithSetUpWords>
  )
}

/** Each call makes another password, so there is nothing to repeat by a key. */
const newCredentials = (id: string) => answerOf(api.POST('/v1/grants/{id}/credentials', { params: { path: { id } } }))

function Password({ grant }: SignInPasswordProps): ReactNode {
  const access = useSetUpWords().access
  const words = useSetUpWords().logins
  const act = useAct()
  const [made, setMade] = useState<Credentials>()
  const get = () => act.run(() => newCredentials(grant.id).then(setMade))
  return (
    <div className="grid gap-2">
      {made === undefined ? (
        <div>
          <Button
            isPending={act.isPending}
            onClick={get}
            aria-label={`${words.get}: ${access.onIt(grant.action, nameOf(grant))}`}
          >
            {words.get}
          </Button>
        </div>
      ) : (
        <PasswordOnce made={made} close={() => setMade(undefined)} />
      )}
      {act.error !== undefined && <Problem error={act.error} />}
    </div>
  )
}

function PasswordOnce({ made: { user, password }, close }: { made: Credentials; close: () => void }): ReactNode {
  const words = useSetUpWords().logins
  const title = useRef<HTMLHeadingElement>(null)
  // It is news, in place of the button that made it.
  useEffect(() => title.current?.focus(), [])
  return (
    <div className="grid gap-3 rounded-control bg-wait-tint p-4">
      <h4 ref={title} tabIndex={-1} className="font-semibold wrap-anywhere">
        {words.title(user)}
      </h4>
      <p
        data-edge
        className="rounded-control bg-surface px-3 py-2 font-mono text-meta break-all select-all touch:text-body"
      >
        {password}
      </p>
      <p className="sound-width">{words.once}</p>
      <div className="flex flex-wrap gap-2">
        <Copy text={password} label={words.copy} look="primary" />
        <Button look="quiet" onClick={close}>
          {words.close}
        </Button>
      </div>
    </div>
  )
}
