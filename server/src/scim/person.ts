import { invalidValue } from '../http/scim-problem.ts'
import { emailFault, readEmail } from '../kernel/email-address.ts'
import { isObject } from '../kernel/is-object.ts'
import { enterpriseSchema } from './attribute.ts'
import type { Resource } from './read-resource.ts'
import { shownText } from './shown-text.ts'

/** What this service takes from what a directory says of a person. */
export type Person = {
  user_name: string
  external_id: string | null
  email: string
  name: string
  first_name: string | null
  last_name: string | null
  display_name: string | null
  active: boolean
  department: string | null
  title: string | null
  /** The `id` or the `externalId` of the manager, as sent. */
  manager_key: string | null
}

/** As in the table of users. */
const maxNameLength = 200
const maxOwnNameLength = 100

/**
 * The person whom a resource describes. The address is the primary one, else that of work, else the first, else the user name where that is
 * an address.
 * @throws ScimProblem 400 without a user name, or without an address
 */
export function personOf(resource: Resource): Person {
  const user_name = textAt(resource, 'userName')
  if (user_name === null) throw invalidValue('`userName` is required')
  const name = isObject(resource.name) ? resource.name : {}
  const enterprise = enterpriseOf(resource)
  const email = addressOf(resource, user_name)
  return {
    user_name,
    email,
    name: nameOf(resource, name, user_name) ?? email,
    first_name: shownText(textAt(name, 'givenName'), maxOwnNameLength),
    last_name: shownText(textAt(name, 'familyName'), maxOwnNameLength),
    display_name: shownText(textAt(resource, 'displayName'), maxOwnNameLength),
    active: resource.active !== false,
    department: shownText(textAt(enterprise, 'department'), maxNameLength),
    title: shownText(textAt(resource, 'title'), maxNameLength),
    ...keysOf(resource),
  }
}

/** By what others name the person as their manager, and whom the person names. */
export function keysOf(resource: Resource): Pick<Person, 'external_id' | 'manager_key'> {
  const { manager } = enterpriseOf(resource)
  return {
    external_id: textAt(resource, 'externalId'),
    manager_key: isObject(manager) ? textAt(manager, 'value') : null,
  }
}

function enterpriseOf(resource: Resource): Record<string, unknown> {
  const enterprise = resource[enterpriseSchema]
  return isObject(enterprise) ? enterprise : {}
}

function addressOf(resource: Resource, user_name: string): string {
  const emails = (Array.isArray(resource.emails) ? resource.emails : []).filter(isObject)
  const inOrder = [
    emails.find((one) => one.primary === true),
    emails.find((one) => textAt(one, 'type')?.toLowerCase() === 'work'),
    ...emails,
  ]
  const sent = inOrder.map((one) => one && textAt(one, 'value')).find((text) => typeof text === 'string')
  const email = readEmail(sent ?? user_name)
  if (email !== undefined) return email
  throw invalidValue(
    sent == null
      ? 'the user has no e-mail address: send one in `emails`, or as `userName`'
      : `the primary value of \`emails\` ${emailFault}`,
  )
}

function nameOf(resource: Resource, name: Record<string, unknown>, user_name: string): string | null {
  const parts = [textAt(name, 'givenName'), textAt(name, 'familyName')].filter((part) => part !== null)
  const candidates = [textAt(resource, 'displayName'), textAt(name, 'formatted'), parts.join(' '), user_name]
  return candidates.map((text) => shownText(text, maxNameLength)).find((text) => text !== null) ?? null
}

function textAt(object: Record<string, unknown>, name: string): string | null {
  const value = object[name]
  return typeof value === 'string' && value !== '' ? value : null
}
