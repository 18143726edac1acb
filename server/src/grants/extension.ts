/** When a grant may be extended. */
import { Problem } from '../kernel/errors.ts'
import type { GrantStatus } from './grant.ts'

/** A grant as its extension begins from it, with what was requested. */
export type ExtendableGrant = {
  id: string
  user_id: string
  status: GrantStatus
  /** Its end has not come yet. */
  is_active: boolean
  /** The earliest moment at which it may be extended; null: it never became active. */
  extendable_from: string | null
  is_half_used: boolean
  /** The request that extends it already: pending, or approved with access that has not ended. */
  extended_by: string | null
  /** For how long its holder has the access without a gap when it ends. */
  held_seconds: number
  /** A person decided a part of that time. */
  by_person: boolean
  place: { type: string; id: string; account_id: string | null; permission_set: string | null }
  request: { resource_type: string; resource_id: string; action: string; metadata: object; break_glass: boolean }
}

type Extendable = Pick<ExtendableGrant, 'status' | 'is_active' | 'is_half_used' | 'extendable_from' | 'extended_by'>

/**
 * @throws Problem 409: `grant_not_live` for a grant that is not active, `already_extended` with the request, `too_early_to_extend` with the
 * moment from which on it may be extended
 */
export function requireExtendable(grant: Extendable): void {
  const { status, is_active, is_half_used, extendable_from, extended_by } = grant
  if (!is_active || extendable_from === null) {
    const now = status === 'active' ? 'its time is over' : `it is ${status}`
    throw new Problem('grant_not_live', `only active access is extended: ${now}`, { details: { status } })
  }
  if (extended_by !== null) {
    const message =
      'another request extends the grant: wait for its decision, or extend what it gave, once half of that is used'
    throw new Problem('already_extended', message, { details: { request_id: extended_by } })
  }
  if (!is_half_used) {
    const message = `half of the time of the grant must be used first: extend it from ${extendable_from} on`
    throw new Problem('too_early_to_extend', message, { details: { extendable_from } })
  }
}
