import { hash } from 'node:crypto'
import type { Limit } from '../kernel/bucket.ts'
import { emailKey } from '../kernel/email-address.ts'
import { createLruCache } from '../kernel/lru-cache.ts'

/**
 * Wrong passwords of one account, to every process together. The window begins with the first of them; nothing but its end
 * takes one back, or an attacker would have ten more with each sign-in of the owner.
 */
export const accountLimit = { name: 'account', quota: 10, seconds: 900 } as const satisfies Limit

/** How many failures there are in the window, and how long it lasts. */
export type CountedFailures = { failures: number; seconds_left: number }

/** Under what the sign-ins of an address are counted, however it is written, and whether there is such a user or not. */
export function accountOf(email: string): Buffer {
  return hash('sha256', `sign-in ${emailKey(email)}`, 'buffer')
}

/** Under what somebody's tries to change their own password are counted: who fails to sign in as them must not hinder that. */
export function ownPasswordOf(user_id: string): Buffer {
  return hash('sha256', `own password ${user_id}`, 'buffer')
}

/** The same count in this process's memory, for tenants that do not exist: they must not be told by having no limit. */
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
