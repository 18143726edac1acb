import { hash } from 'node:crypto'
import type { Limit } from '../kernel/bucket.ts'
import { emailKey } from '../kernel/email-address.ts'

/**
 * The limit of wrong passwords for one account, over all processes together. The window begins with the first failure. Only
 * its end resets the count; otherwise an attacker would get ten more guesses with each sign-in of the owner.
 */
export const accountLimit = { name: 'account', quota: 10, seconds: 900 } as const satisfies Limit

/** The number of failures in the window, and the seconds until it ends. */
export type CountedFailures = { failures: number; seconds_left: number }

/** The key under which an address's sign-in failures are counted, for every spelling and whether or not the user exists. */
export function accountOf(email: string): Buffer {
  return hash('sha256', `sign-in ${emailKey(email)}`, 'buffer')
}

/** The key of an address at an id that is no tenant's: all these share one table. */
export function accountWithoutTenant(tenant_id: string, email: string): Buffer {
  return hash('sha256', `sign-in ${tenant_id} ${emailKey(email)}`, 'buffer')
}

/** The key for wrong codes of an app, separate because a caller who tries one knows the password already. */
export function totpCodesOf(user_id: string): Buffer {
  return hash('sha256', `second factor ${user_id}`, 'buffer')
}

/** The key for failed changes of one's own password, separate so that an attacker's failed sign-ins do not block the user's change. */
export function ownPasswordOf(user_id: string): Buffer {
  return hash('sha256', `own password ${user_id}`, 'buffer')
}
