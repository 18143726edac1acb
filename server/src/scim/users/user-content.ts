import { userKind } from '../attribute.ts'
import { type Person, personOf } from '../person.ts'
import type { Resource } from '../read-resource.ts'
import { type SearchedValue, searchedValues } from '../searched-values.ts'

/** What is written of a user: the person, the resource, and the values by which filters find them. */
export type UserContent = { person: Person; resource: Resource; values: readonly SearchedValue[] }

/** @throws ScimProblem 400 for a resource that describes no user */
export function userContentOf(resource: Resource): UserContent {
  return { person: personOf(resource), resource, values: searchedValues(userKind, resource) }
}
