/** A resource as policy sees it: from the account cache and from its own id, never from the requester's words. */
import { type AccountPolicyView, unknownAccount } from '../cloud/cloud-account.ts'
import type { Resource, ResourceReference } from '../policy-engine/cedar/question.ts'

/** The account that the id of a resource states; undefined where ids of its type state none. */
export function accountInId({ type, id }: ResourceReference): string | undefined {
  if (type === 'cloud_account') return id
  return type === 'cloud_db_instance' ? id.split(':')[4] : undefined
}

/** The name that the id of a resource states; '' where ids of its type state none. */
function nameInId({ type, id }: ResourceReference): string {
  if (type === 'cloud_storage_bucket') return id
  return type === 'cloud_db_instance' ? (id.split(':')[6] ?? '') : ''
}

/**
 * A resource in this account (undefined: in none). What lies in an account has the tags of the account, so that a rule about tags
 * holds for everything there.
 */
export function resourceIn(
  reference: ResourceReference,
  account_id: string | undefined,
  accounts: ReadonlyMap<string, AccountPolicyView>,
): Resource {
  const known = account_id === undefined ? undefined : accounts.get(account_id)
  const resource = resourceUnder(reference, account_id, known ?? unknownAccount)
  return account_id === undefined || known !== undefined ? resource : { ...resource, unknown_account: account_id }
}

/** The same with what is known of the account: its number may be unknown although its tags and units are not. */
export function resourceUnder(
  reference: ResourceReference,
  account_id: string | undefined,
  { name, tags, organizational_unit_ids }: AccountPolicyView,
): Resource {
  const { type, id } = reference
  const units = organizational_unit_ids.map((unit) => ({ type: 'cloud_organizational_unit' as const, id: unit }))
  if (type === 'cloud_account') return { type, id, name, tags, parents: units }
  const account = account_id === undefined ? [] : [{ type: 'cloud_account' as const, id: account_id }]
  return { type, id, name: nameInId(reference), tags, parents: [...account, ...units] }
}
