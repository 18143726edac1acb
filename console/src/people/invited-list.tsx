import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { now } from '../time/clock.ts'
import { useFormats } from '../time/formats.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { Made } from './link-once.tsx'
import { type Invitation, inviteAgain, invitedQuery, withdrawInvitation } from './queries.ts'

type Noting = {
  onMade: (made: Made) => void
  /** The link that was shown may be this one. */
  onWithdrawn: (id: string) => void
}

/** Who was invited and has not joined yet. */
export function InvitedList(noting: Noting): ReactNode {
  const words = useSetUpWords().people.invited
  const { data, error, refetch } = useQuery(invitedQuery)
  return (
    <div className="grid gap-3">
      <h3 className="font-semibold">{words.title}</h3>
      {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      {data?.invited.length === 0 && !data.hasMore && <p className="text-text-2">{words.none}</p>}
      {data !== undefined && data.invited.length > 0 && (
        <ul className="divide-y divide-line">
          {data.invited.map((invitation) => (
            <Invited key={invitation.user_id} invitation={invitation} {...noting} />
          ))}
        </ul>
      )}
      {data?.hasMore === true && <p className="text-meta text-text-2">{words.newest}</p>}
    </div>
  )
}

function Invited({ invitation, onMade, onWithdrawn }: Noting & { invitation: Invitation }): ReactNode {
  const words = useSetUpWords().people.invited
  const queries = useQueryClient()
  const act = useAct()
  const [isLeaving, setLeaving] = useState(false)
  const { id, user_id, name, email, state } = invitation
  const refresh = () => queries.invalidateQueries({ queryKey: invitedQuery.queryKey })
  const renew = () =>
    act.run(async (key) => {
      onMade({ invitation: await inviteAgain(user_id, key), isAgain: true })
      await refresh()
    }, user_id)
  const withdraw = async () => {
    await withdrawInvitation(invitation)
    toast(words.withdrawn(name))
  }
  // Also where it failed: the person may have joined, or another administrator may have ended it.
  const leave = () => {
    setLeaving(false)
    onWithdrawn(id)
    return refresh()
  }
  return (
    <li className="grid gap-3 py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2 font-medium wrap-anywhere">
            <bdi>{name}</bdi>
            <StateBadge state={state} />
          </p>
          <p className="text-text-2 wrap-anywhere">{email}</p>
          <Facts invitation={invitation} />
        </div>
        <div className="flex flex-wrap gap-2">
          <Button isPending={act.isPending} aria-label={words.newLinkFor(name)} onClick={renew}>
            {words.newLink}
          </Button>
          {state === 'pending' && (
            <Button isPending={act.isPending} aria-label={words.withdrawFor(name)} onClick={() => setLeaving(true)}>
              {words.withdraw}
            </Button>
          )}
        </div>
      </div>
      <ActProblem act={act} />
      {isLeaving && (
        <Confirm
          title={words.withdrawTitle(name)}
          consequences={words.withdrawConsequences}
          act={words.withdrawAct}
          close={leave}
          run={withdraw}
        />
      )}
    </li>
  )
}

function StateBadge({ state }: Pick<Invitation, 'state'>): ReactNode {
  const words = useSetUpWords().people.invited.states
  const isOpen = state === 'pending'
  return (
    <Badge tone={isOpen ? 'wait' : 'neutral'} icon={isOpen ? 'clock' : 'minus'}>
      {isOpen ? words.pending : state === 'expired' ? words.expired : words.ended}
    </Badge>
  )
}

/** Until when the link works, and what became of the mail. */
function Facts({ invitation: { state, expires_at, mail } }: { invitation: Invitation }): ReactNode {
  const words = useSetUpWords().people.invited
  const formats = useFormats()
  if (state !== 'pending') return null
  const facts = [words.until(formats.moment(expires_at, now())), words.mails[mail.state]]
  return (
    <p className="text-meta text-text-2 wrap-anywhere">
      {facts.join(' · ')}
      {mail.error !== undefined && (
        <>
          {': '}
          <EnglishText>{mail.error}</EnglishText>
        </>
      )}
    </p>
  )
}
