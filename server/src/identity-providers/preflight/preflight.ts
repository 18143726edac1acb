import { type Static, Type } from 'typebox'
import { Body, Line, Nullable, OneOf, Uuid } from '../../http/schema.ts'
import { ScimProblem } from '../../http/scim-problem.ts'
import { emailKey } from '../../kernel/email-address.ts'
import { userKind } from '../../scim/attribute.ts'
import { personOf } from '../../scim/person.ts'
import { readResource } from '../../scim/read-resource.ts'
import { comparedKeys } from '../../scim/users/holder.ts'

/** People that one call takes. */
const maxPeople = 1_000

/** As of an `externalId`. */
const longest = 600

/** Targets that one call asks. */
export const maxTargets = 10

export const NewPreflight = Body({
  people: Type.Array(
    Type.Object(
      {
        user_name: Line(longest, { description: 'the `userName` that the directory will send' }),
        external_id: Type.Optional(
          Nullable(Line(longest, { minLength: 0, description: 'the `externalId` that it will send' })),
        ),
        email: Type.Optional(
          Nullable(Line(longest, { minLength: 0, description: 'left out: `user_name`, where that is an address' })),
        ),
      },
      { additionalProperties: false },
    ),
    { minItems: 1, maxItems: maxPeople },
  ),
})
export type NewPreflight = Static<typeof NewPreflight>

/**
 * Who somebody would be here. `known`: a user of this directory has the id or the user name. `adopt`: an account here was made for the
 * directory. `settle`: a person has to say who they are. `left_out`: a person has kept the two apart.
 */
export const matches = ['known', 'add', 'adopt', 'settle', 'left_out', 'refused'] as const
export type Match = (typeof matches)[number]

const MatchedPerson = Type.Object(
  {
    user_name: Type.String(),
    external_id: Nullable(Type.String()),
    match: OneOf(matches, { description: 'who the person would be here' }),
    user_id: Nullable(Type.String({ ...Uuid, description: 'the user here who has the id, the name or the address' })),
    message: Nullable(Type.String({ description: 'why the person would be refused' })),
    not_found_at: Type.Array(Uuid, { description: 'of `targets`, those that do not have the person' }),
  },
  { title: 'MatchedPerson' },
)
export type MatchedPerson = Static<typeof MatchedPerson>

const count = (description: string) => Type.Integer({ description })

export const Preflight = Type.Object(
  {
    counts: Type.Object({
      people: count('how many were asked about'),
      known: count('users of this directory already'),
      added: count('would be new users'),
      adopted: count('would be the user here who was made for the directory'),
      to_settle: count('a person would have to say who they are'),
      left_out: count('a person has kept them apart'),
      refused: count('cannot be made'),
    }),
    targets: Type.Array(
      Type.Object({
        provisioner_id: Uuid,
        name: Type.String(),
        not_found: count('how many of those who would be users the target does not have'),
      }),
      {
        description:
          `the first ${maxTargets} targets that have a directory of their own, such as Identity Center, and whose people were read; ` +
          'none for a caller without `provisioners:read`',
      },
    ),
    people: Type.Array(MatchedPerson, { description: 'in the order in which they were sent' }),
  },
  { title: 'Preflight' },
)
export type Preflight = Static<typeof Preflight>

/** Somebody as they are compared. `message`: why they cannot be made; then there is nothing to compare. */
export type PersonToMatch = {
  at: number
  external_id: string | null
  name_key: string | null
  email: string | null
  email_key: string | null
  email_keys: readonly string[]
  mail_domain: string | null
  message: string | null
}

/** As SCIM reads them; of people who would have the same id, name or address, the first. */
export function peopleToMatch(people: NewPreflight['people']): PersonToMatch[] {
  const taken = new Set<string>()
  return people.map((sent, at) => {
    const read = personToMatch(sent, at)
    if (read.message !== null) return read
    const ids = read.external_id === null ? [] : [`id ${read.external_id}`]
    const keys = [...ids, `name ${read.name_key}`, ...read.email_keys.map((key) => `address ${key}`)]
    const twice = keys.some((key) => taken.has(key))
    for (const key of keys) taken.add(key)
    return twice ? { ...read, message: 'somebody before them in the list has the same id, user name or address' } : read
  })
}

const nothing = { external_id: null, name_key: null, email: null, email_key: null, email_keys: [], mail_domain: null }

function personToMatch({ user_name, external_id, email }: NewPreflight['people'][number], at: number): PersonToMatch {
  const sent = {
    userName: user_name,
    ...(external_id != null && external_id !== '' && { externalId: external_id }),
    ...(email != null && email !== '' && { emails: [{ value: email, primary: true }] }),
  }
  try {
    const person = personOf(readResource(userKind, sent))
    const { external_id: id, email: address } = person
    return { at, external_id: id, email: address, email_key: emailKey(address), ...comparedKeys(person), message: null }
  } catch (error) {
    if (!(error instanceof ScimProblem)) throw error
    return { at, ...nothing, message: error.message }
  }
}

/** Who the person at this place of the list would be. */
export type Matched = { at: number; match: Exclude<Match, 'refused'> | 'taken'; user_id: string | null }

/** A target that has a directory of its own, and the places of those whom it does not have. */
export type TargetPeople = { provisioner_id: string; name: string; not_found: readonly number[] }

const addressTaken = 'another user has the user name or the address, or one like it'

/** The answer, in the order in which the people were sent. */
export function preflightOf(
  people: NewPreflight['people'],
  { read, matched, targets }: { read: PersonToMatch[]; matched: Matched[]; targets: TargetPeople[] },
): Preflight {
  const found = new Map(matched.map((one) => [one.at, one]))
  const isUser = ({ match }: Pick<MatchedPerson, 'match'>) => match !== 'refused' && match !== 'left_out'
  const missing = targets.map((target) => ({ ...target, places: new Set(target.not_found) }))
  const shown = people.map(({ user_name, external_id = null }, at): MatchedPerson => {
    const { match: said, user_id } = found.get(at) ?? { match: 'taken', user_id: null }
    const match = said === 'taken' ? 'refused' : said
    const message = match === 'refused' ? (read[at]?.message ?? addressTaken) : null
    const not_found_at = isUser({ match })
      ? missing.flatMap(({ provisioner_id, places }) => (places.has(at) ? [provisioner_id] : []))
      : []
    return { user_name, external_id, match, user_id, message, not_found_at }
  })
  const of = (match: Match) => shown.filter((one) => one.match === match).length
  return {
    counts: {
      people: shown.length,
      known: of('known'),
      added: of('add'),
      adopted: of('adopt'),
      to_settle: of('settle'),
      left_out: of('left_out'),
      refused: of('refused'),
    },
    targets: targets.map(({ provisioner_id, name }) => ({
      provisioner_id,
      name,
      not_found: shown.filter(({ not_found_at }) => not_found_at.includes(provisioner_id)).length,
    })),
    people: shown,
  }
}
