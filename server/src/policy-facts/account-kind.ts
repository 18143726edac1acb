/**
 * The kinds of account in which a resource may lie whose account nobody knows. Accounts of one kind get equal answers, because the
 * rules cannot tell them apart.
 */
import { unknownAccount } from '../cloud/cloud-account.ts'
import type { Resource, ResourceReference } from '../policy-engine/cedar/question.ts'
import type { AccountTraits } from '../policy-engine/cedar/reading.ts'
import { findIdFault } from '../policy-engine/cedar/reference-faults.ts'
import { resourceUnder } from './resource.ts'

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
  { account_id, ...seen }: AccountKind,
  as_if: NonNullable<Resource['as_if']>,
): Resource {
  return { ...resourceUnder(reference, account_id ?? undefined, { ...unknownAccount, ...seen }), as_if }
}
