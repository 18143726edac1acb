/**
 * The kinds of account in which a resource may lie whose account nobody knows. Accounts of one kind get equal answers, because the
 * rules cannot tell them apart.
 */
import { unknownAccount } from '../cloud/cloud-account.ts'
import type { Resource, ResourceReference } from '../policy-engine/cedar/question.ts'
import type { AccountTraits } from '../policy-engine/cedar/reading.ts'
import { findIdFault } from '../policy-engine/cedar/reference-faults.ts'
import { resourceIn } from './resource.ts'

/** What the rules can see of an account: its number, where they name it, and the units and tags that they read. */
export type AccountKind = {
  account_id: string | null
  tags: Readonly<Record<string, string>>
  organizational_unit_ids: readonly string[]
}

/** A question is evaluated for at most this many kinds of account. */
export const maxKinds = 200

/**
 * Every kind: those of the cached accounts, each account and each unit that a rule names though the cache has none such, and no
 * account at all. `too_many`: more than `maxKinds`.
 */
export function everyKind(cached: readonly AccountKind[], traits: AccountTraits): readonly AccountKind[] | 'too_many' {
  const accounts = new Set(cached.map(({ account_id }) => account_id))
  const units = new Set(cached.flatMap(({ organizational_unit_ids }) => organizational_unit_ids))
  const isPossible = (type: 'cloud_account' | 'cloud_organizational_unit') => (id: string) =>
    findIdFault({ type, id }) === undefined
  const kinds: AccountKind[] = [
    { account_id: null, tags: {}, organizational_unit_ids: [] },
    ...cached,
    ...traits.account_ids
      .filter((id) => !accounts.has(id))
      .filter(isPossible('cloud_account'))
      .map((account_id) => ({ account_id, tags: {}, organizational_unit_ids: [] })),
    ...traits.unit_ids
      .filter((id) => !units.has(id))
      .filter(isPossible('cloud_organizational_unit'))
      .map((unit) => ({ account_id: null, tags: {}, organizational_unit_ids: [unit] })),
  ]
  const keyOf = (kind: AccountKind) => JSON.stringify([kind.account_id, kind.tags, kind.organizational_unit_ids])
  const different = new Map(kinds.map((kind) => [keyOf(kind), kind]))
  return different.size > maxKinds ? 'too_many' : [...different.values()]
}

/** The resource as if it were in an account of this kind. */
export function asIfIn(
  reference: ResourceReference,
  { account_id, tags, organizational_unit_ids }: AccountKind,
  as_if: NonNullable<Resource['as_if']>,
): Resource {
  const units = organizational_unit_ids.map((id) => ({ type: 'cloud_organizational_unit' as const, id }))
  if (account_id === null) return { ...resourceIn(reference, undefined, new Map()), tags, parents: units, as_if }
  const accounts = new Map([[account_id, { ...unknownAccount, tags, organizational_unit_ids }]])
  return { ...resourceIn(reference, account_id, accounts), as_if }
}
