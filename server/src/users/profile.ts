import { type Static, Type } from 'typebox'
import { Body, jsonSchemaOf, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { type FaultyField, invalidInput, Problem } from '../kernel/errors.ts'
import { isName, isVisibleLine, visibleLineRule } from '../kernel/one-line-name.ts'
import { Avatar, avatarFault } from './avatar.ts'
import type { Managed } from './managed.ts'
import { authProviders } from './user.ts'

/** A user's own view of their profile. */
export const OwnProfile = Type.Object(
  {
    id: Uuid,
    email: Type.String(),
    name: Type.String(),
    auth_provider: OneOf(authProviders),
    first_name: Nullable(Type.String()),
    last_name: Nullable(Type.String()),
    display_name: Nullable(Type.String()),
    avatar_base64: Nullable(Type.String()),
  },
  { title: 'OwnProfile' },
)
export type OwnProfile = Static<typeof OwnProfile>

const maxNameLength = 100
/** NFC turns at most four code points into one, so a longer text is too long after it and is not checked further. */
const maxRawNameLength = 4 * maxNameLength

const inWords =
  `at most ${maxNameLength} characters after NFC, on one line, without marks that change the text direction and other ` +
  'invisible characters; empty or null: none'
const OwnName = Type.Optional(Nullable(Type.String({ description: inWords })))

/** The body of endpoint 19. Omitted fields stay as they are. */
export const ProfileInput = Body({
  first_name: OwnName,
  last_name: OwnName,
  display_name: OwnName,
  avatar_base64: Type.Optional(
    Nullable(Type.String({ ...Avatar, description: `${jsonSchemaOf(Avatar).description}; null removes it` })),
  ),
})
export type ProfileInput = Static<typeof ProfileInput>

const nameFields = ['first_name', 'last_name', 'display_name'] as const

/** The fields to write; null clears a field. */
export type ProfileChange = Partial<Pick<OwnProfile, (typeof nameFields)[number] | 'avatar_base64'>>

/** What decides whether a name is the provider's, and whether it is changed. */
type Present = Pick<OwnProfile, 'auth_provider' | (typeof nameFields)[number]> & Managed

/** The names that a user's identity provider manages, so that the user cannot change them here: of a user of a directory all of them. */
function managedFields({ auth_provider, identity_provider_id }: Omit<Present, (typeof nameFields)[number]>) {
  if (identity_provider_id !== null) return nameFields
  return auth_provider === 'local' ? [] : (['first_name', 'last_name'] as const)
}

/**
 * Reads a change of the user's own profile. Names are stored in NFC; an empty name means none. What the identity provider manages
 * is taken with its present value.
 * @throws Problem 400 naming each faulty field, and each that the identity provider manages
 */
export function readProfileChange(before: Present, input: ProfileInput): ProfileChange {
  const given = nameFields.filter((field) => input[field] !== undefined && !isPresent(before, field, input))
  // A name of before a rule can be sent back with the others.
  const changed = given.filter((field) => (input[field] || null) !== before[field])
  const faults: FaultyField[] = [
    ...changed.flatMap((field) => fault(field, nameFault(before, field, input[field] ?? ''))),
    ...(typeof input.avatar_base64 === 'string' ? fault('avatar_base64', avatarFault(input.avatar_base64)) : []),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  return {
    ...Object.fromEntries(given.map((field) => [field, input[field]?.normalize('NFC') || null])),
    ...(input.avatar_base64 !== undefined && { avatar_base64: input.avatar_base64 }),
  }
}

function isPresent(before: Present, field: (typeof nameFields)[number], input: ProfileInput): boolean {
  return isManaged(before, field) && (input[field] || null) === before[field]
}

function isManaged(before: Present, field: (typeof nameFields)[number]): boolean {
  return managedFields(before).some((managed) => managed === field)
}

function fault(field: string, why: string | undefined): FaultyField[] {
  return why === undefined ? [] : [{ pointer: `/${field}`, why }]
}

function nameFault(before: Present, field: (typeof nameFields)[number], text: string): string | undefined {
  if (isManaged(before, field)) {
    return 'is managed by the identity provider: change it there, and send its present value or leave it out'
  }
  return ownNameFault(text)
}

/** Returns the fault of a name that a user chose, as a half-sentence; undefined for a valid or empty one. */
export function ownNameFault(text: string): string | undefined {
  if (text === '') return undefined
  // Check the length first: NFC takes a minute for a body full of accents.
  const length = text.length > 2 * maxRawNameLength ? undefined : [...text.normalize('NFC')].length
  if (length === undefined || length > maxNameLength) return `is too long: use at most ${maxNameLength} characters`
  if (!isVisibleLine(text)) return visibleLineRule
  return isName(text) ? undefined : 'must have a visible character; leave it empty for none'
}

/** The error for a user who was deleted since their credential was checked. */
export function userGone(): Problem {
  return new Problem('unauthenticated', 'the credential is not valid any more: its user was deleted')
}
