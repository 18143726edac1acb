import { type Static, Type } from 'typebox'
import { invalidInput } from '../kernel/errors.ts'
import { accountInId } from '../policy-facts/resource.ts'
import { keyOfPlace } from '../provisioners/serving.ts'
import { maxPlaces, ResourceReference } from './request.ts'

/** Where access is given, one grant each. The target receives exactly the place that policy evaluated. */
export const Place = Type.Object(
  {
    type: ResourceReference.properties.type,
    id: Type.String(),
    account_id: Type.Optional(
      Type.String({ description: 'the account that contains the resource, where it is known' }),
    ),
    permission_set: Type.Optional(
      Type.String({ description: 'the permission set to assign on the account, where one was requested' }),
    ),
  },
  { title: 'Place' },
)
export type Place = Static<typeof Place>

const accountForm = /^[0-9]{12}$/

/** The accounts that a request names. Access is given there, so these are the only metadata that Sallyport evaluates. */
type NamedAccounts = {
  /** The account that the resource lives in; undefined when neither its id nor the metadata says. */
  home: string | undefined
  /** The accounts on which a permission set is requested. */
  touched: string[]
}

/**
 * The accounts that a request names, by its resource's id and its `metadata.account_id(s)`.
 * Throws 400 where the two contradict each other, where a required account is missing, or where one is not an account number.
 */
export function namedAccounts(resource: ResourceReference, metadata: Record<string, unknown>): NamedAccounts {
  const home = accountInId(resource)
  if (resource.type === 'cloud_permission_set') return { home, touched: readAccountIds(metadata.account_ids) }
  const named = metadata.account_id
  if (named === undefined || resource.type === 'cloud_organizational_unit') return { home, touched: [] }
  if (typeof named !== 'string' || !accountForm.test(named)) {
    throw invalidInput([{ pointer: '/metadata/account_id', why: 'must be an account number of 12 digits' }])
  }
  if (home !== undefined && home !== named) {
    throw invalidInput([{ pointer: '/metadata/account_id', why: `contradicts the resource, which is in \`${home}\`` }])
  }
  return { home: named, touched: [] }
}

function readAccountIds(value: unknown): string[] {
  const ids = Array.isArray(value) ? (value as unknown[]) : []
  const sound = ids.filter((id): id is string => typeof id === 'string' && accountForm.test(id))
  if (
    ids.length === 0 ||
    sound.length !== ids.length ||
    new Set(sound).size !== sound.length ||
    ids.length > maxPlaces
  ) {
    const why = `must list the accounts to give the permission set on: 1 to ${maxPlaces} different numbers of 12 digits`
    throw invalidInput([{ pointer: '/metadata/account_ids', why }])
  }
  return sound
}

/** Whether access is given on accounts, and not on the resource itself: permission sets and organizational units. */
export function isOnAccounts({ type }: ResourceReference): boolean {
  return type === 'cloud_permission_set' || type === 'cloud_organizational_unit'
}

/** An account as the place of access. */
export function accountPlace(id: string): Place & { account_id: string } {
  return { type: 'cloud_account', id, account_id: id }
}

/**
 * The first place where no provisioner gives access; undefined when each is served.
 * @param served the places where one does, by `keyOfPlace`; null: none is needed
 */
export function findUnserved(places: readonly Place[], served: ReadonlySet<string> | null): Place | undefined {
  return served === null ? undefined : places.find((place) => !served.has(keyOfPlace(place)))
}

/** Where access will be given, fixed when the request is created. `under` holds the accounts of an organizational unit. */
export function placesOf(resource: ResourceReference, named: NamedAccounts, under: readonly string[]): Place[] {
  if (resource.type === 'cloud_permission_set') {
    return named.touched.map((id) => ({ ...accountPlace(id), permission_set: resource.id }))
  }
  if (resource.type !== 'cloud_organizational_unit') {
    return [{ ...resource, ...(named.home !== undefined && { account_id: named.home }) }]
  }
  if (under.length === 0) {
    const why = 'has no account in the account cache; write the accounts with `PUT /v1/cloud/accounts` first'
    throw invalidInput([{ pointer: '/resource/id', why }])
  }
  if (under.length > maxPlaces) {
    throw invalidInput([
      { pointer: '/resource/id', why: `holds more than ${maxPlaces} accounts; request access to a smaller unit` },
    ])
  }
  return under.map(accountPlace)
}
