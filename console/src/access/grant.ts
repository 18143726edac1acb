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

/** Whether a target works on it now. Its steps there are in no event, so a page asks for them. */
export const isMoving = ({ status, provisioning_status }: Pick<Grant, 'status' | 'provisioning_status'>): boolean =>
  status === 'pending' || provisioning_status === 'attempting' || provisioning_status === 'deprovisioning'
