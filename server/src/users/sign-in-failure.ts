import { hash } from 'node:crypto'
import type { Limit } from '../kernel/bucket.ts'
import { emailKey } from '../kernel/email-address.ts'
import { createLruCache } from '../kernel/lru-cache.ts'

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

/** The key for wrong codes of an app, separate because a caller who tries one knows the password already. */
export function totpCodesOf(user_id: string): Buffer {
  return hash('sha256', `second factor ${user_id}`, 'buffer')
}

/** The key for failed changes of one's own password, separate so that an attacker's failed sign-ins do not block the user's change. */
export function ownPasswordOf(user_id: string): Buffer {
  return hash('sha256', `own password ${user_id}`, 'buffer')
}

/** The same count in this process's memory, for unknown tenants: a missing limit must not reveal that a tenant does not exist. */
export function countInMemory(clock = () => performance.now()) {
  const windows = createLruCache<{ failures: number; began: number }>(10_000)

  function find(key: string): CountedFailures {
    const { failures, began } = windows.get(key) ?? { failures: 0, began: clock() }
    const seconds_left = accountLimit.seconds - (clock() - began) / 1_000
    return seconds_left > 0 ? { failures, seconds_left } : { failures: 0, seconds_left: accountLimit.seconds }
  }

  return {
    find,
    count(key: string): void {
      const { failures, seconds_left } = find(key)
      const began = clock() - (accountLimit.seconds - seconds_left) * 1_000
      windows.set(key, { failures: failures + 1, began })
    },
  }
}
