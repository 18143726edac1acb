import { randomBytes } from 'node:crypto'
import type { NewEvent } from '../events/emit.ts'
import { isName, nameRule } from '../kernel/one-line-name.ts'

/** A new tenant's owner, with the password as typed. */
export type OwnerToMake = { email: string; name: string; password: string }

/** The system roles of an owner: every scope except `scim:provision`. */
export const ownerRoles = ['admin'] as const

/** Returns the fault of a tenant's name as a half-sentence; undefined for a valid one. */
export function tenantNameFault(name: string): string | undefined {
  if ([...name].length > 200) return 'is longer than 200 characters'
  return isName(name) ? undefined : nameRule
}

export function tenantCreated(tenant_id: string): NewEvent {
  return { type: 'tenant.created', subject_type: 'tenant', subject_id: tenant_id }
}

/** Digits and letters, without those that look alike. */
const letters = '23456789abcdefghijkmnpqrstuvwxyz'

/** A random password of 100 bits in a form that is easy to type: `k7pm2-x4uwz-…`. */
export function makePassword(): string {
  const text = [...randomBytes(20)].map((byte) => letters.charAt(byte % letters.length)).join('')
  return text.replace(/(.{5})(?=.)/g, '$1-')
}

/** Why an owner cannot sign in although they have a password, and what ends that; undefined for one who can. */
export function signInHint(owner: {
  user_id: string
  email: string
  active: boolean
  suspended_until: string | null
}): string | undefined {
  const { user_id, email, active, suspended_until } = owner
  const url = `/v1/users/${user_id}`
  const who = 'a user who holds every scope of the owner'
  if (!active) return `\`${email}\` is deactivated and cannot sign in: ${who} reactivates them with PATCH ${url}`
  if (suspended_until === null) return undefined
  return (
    `\`${email}\` is suspended until ${suspended_until} and cannot sign in before: ` +
    `${who} ends that with POST ${url}/unsuspend`
  )
}

const units = { m: 60, h: 3600, d: 86_400 }

/** Seconds for `30m`, `12h` or `7d`; undefined for any other text. */
export function readDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * units[unit as keyof typeof units]
}
