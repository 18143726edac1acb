import type { Schemas } from '@sallyport/client'
import type { State } from '../requests/request.ts'
import type { Words } from '../words/words.ts'

export type Grant = Schemas['NamedGrant']

/** What the state of access is read from. */
export type GrantFacts = Pick<Grant, 'status' | 'provisioning_status' | 'drifted'>

const gone = new Set<Grant['status']>(['expired', 'revoked'])

/** The state of access, as its badge shows it. What is not gone from its target is never shown as ended. */
export function grantState({ status, provisioning_status, drifted }: GrantFacts, words: Words): State {
  const { states } = words.access
  if (gone.has(status)) {
    if (provisioning_status === 'deprovisioning_failed')
      return { word: states.stillHasAccess, tone: 'alarm', icon: 'alert' }
    if (provisioning_status === 'deprovisioning') return { word: states.ending, tone: 'info', icon: 'loader' }
    return { word: status === 'expired' ? states.ended : states.endedEarly, tone: 'neutral', icon: 'minus' }
  }
  if (status === 'failed') return { word: states.failed, tone: 'bad', icon: 'x' }
  if (drifted) return { word: states.changedByHand, tone: 'wait', icon: 'hand' }
  if (status === 'pending') return { word: states.starting, tone: 'info', icon: 'loader' }
  return { word: states.active, tone: 'ok', icon: 'check' }
}

/** Whether the person has the access, will have it in a moment, or still has it though it ended. */
export const isLive = ({ status, provisioning_status }: Pick<Grant, 'status' | 'provisioning_status'>): boolean =>
  !gone.has(status) && status !== 'failed'
    ? true
    : provisioning_status === 'deprovisioning' || provisioning_status === 'deprovisioning_failed'

const keyOf = ({ resource, action }: Owned) => `${resource.type}/${resource.id}/${action}`

type Owned = Pick<Grant, 'status' | 'provisioning_status' | 'resource' | 'action' | 'ended_at' | 'updated_at'>

/**
 * A person's grants as they are shown: what is theirs now, and what ended today. A start that failed today waits for the person to
 * have it tried again, so it stands with what is theirs, unless they have the same access meanwhile.
 */
export function placesOf<One extends Owned>(grants: readonly One[], isToday: (at: string) => boolean) {
  const live = new Set(grants.filter(isLive).map(keyOf))
  const endedToday = grants.filter((grant) => !isLive(grant) && isToday(grant.ended_at ?? grant.updated_at))
  const hasFailed = (grant: One) => grant.status === 'failed' && !live.has(keyOf(grant))
  const failedToday = new Set(endedToday.filter(hasFailed))
  return {
    yours: grants.filter((grant) => isLive(grant) || failedToday.has(grant)),
    ended: endedToday.filter((grant) => !failedToday.has(grant)),
  }
}

/** Whether a target works on it now. Its steps there are in no event, so a page asks for them. */
export const isMoving = ({ status, provisioning_status }: Pick<Grant, 'status' | 'provisioning_status'>): boolean =>
  status === 'pending' || provisioning_status === 'attempting' || provisioning_status === 'deprovisioning'
