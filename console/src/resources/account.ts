import type { Schemas } from '@sallyport/client'

export type Account = Schemas['CloudAccount']

/** What a person enters to add an account. */
export type AccountEntry = { name: string; number: string; environment: string }

/** The environments that are offered: what rules usually call them. */
export const environments = ['production', 'staging', 'test'] as const

/** The 12 digits of an account number as people write it, with spaces or dashes; undefined for anything else. */
export function readNumber(text: string): string | undefined {
  const digits = text.replace(/[\s-]/g, '')
  return /^\d{12}$/.test(digits) ? digits : undefined
}

/** The environment by which rules tell the account apart; undefined where it has none that they could read. */
export function environmentOf({ metadata: { env } }: Pick<Account, 'metadata'>): string | undefined {
  return typeof env === 'string' && env !== '' ? env : undefined
}

/** Whether the rehearsal made it: there is no such account anywhere. */
export const isOfRehearsal = ({ metadata }: Pick<Account, 'metadata'>): boolean => metadata.rehearsal === 'true'

/** The account to add; `number` has 12 digits. */
export function accountOf({ name, number, environment }: AccountEntry): Account {
  return { id: number, account_id: number, name: name.trim(), metadata: { env: environment.trim() }, rank: 0 }
}

/**
 * Whether the service has the account already, as it would be added: the answer to the first try was lost. Every other account with its id
 * or its number would be overwritten, or hide it from rules.
 */
export function isSameAccount(stored: Account, added: Account): boolean {
  const textOf = ({ id, account_id, name, metadata, rank }: Account) =>
    JSON.stringify([id, account_id, name, rank, Object.entries(metadata)])
  return textOf(stored) === textOf(added)
}
