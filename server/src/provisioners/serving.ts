import { type Static, Type } from 'typebox'
import { OneOf } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { findIdFault } from '../policy-engine/cedar/reference-faults.ts'
import { type AskedType, askedTypes } from '../policy-engine/cedar/schema.ts'

/** Requests for these types are granted on accounts, one grant each. */
const givenOnAccounts: readonly AskedType[] = ['cloud_permission_set', 'cloud_organizational_unit']

/** The types of resource on which access is given. */
const servedTypes = askedTypes.filter((type) => !givenOnAccounts.includes(type))

const maxLines = 1_000
const maxStars = 3

/** The resources that a provisioner serves, in requests and replies. */
export const Serves = Type.Array(
  Type.Object(
    {
      resource_type: OneOf(servedTypes, {
        description: 'permission sets and organizational units are given on accounts: `cloud_account` serves them',
      }),
      account_ids: Type.Optional(
        Type.Array(Type.String({ pattern: '^[0-9]{12}$' }), {
          minItems: 1,
          maxItems: maxLines,
          description: 'the accounts in which it serves the type; when absent, every account that no other line names',
        }),
      ),
      resource_ids: Type.Optional(
        Type.Array(Type.String({ pattern: '^[A-Za-z0-9:/._+=,@*-]{1,256}$' }), {
          minItems: 1,
          maxItems: maxLines,
          description:
            'in place of `account_ids`: the ids that it serves, whatever serves their account. `*` stands for any characters; of ' +
            'several that match an id, the one without `*` counts, and else the one with the most other characters',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 3 * servedTypes.length,
    description: `no account and no id twice for a type; at most ${maxLines.toLocaleString('en')} of both in all`,
  },
)
type Serves = Static<typeof Serves>

/**
 * One line of what is served: the ids that match a pattern, or an account, where empty stands for every account that has no line of its
 * own. A line with a pattern has no account.
 */
export type ServedLine = { resource_type: string; account_id: string; id_pattern: string }

/** The lines of a request, sorted; throws 400 for a duplicate or contradictory line, for an impossible id, or for too many lines. */
export function linesOf(serves: Serves): ServedLine[] {
  const lines = new Map<string, ServedLine>()
  const faults: FaultyField[] = []
  for (const [index, { resource_type, account_ids, resource_ids }] of serves.entries()) {
    const add = (pointer: string, line: Omit<ServedLine, 'resource_type'>) => {
      const key = keyOf({ resource_type, ...line })
      if (lines.has(key)) faults.push({ pointer, why: 'is named twice; name it once' })
      lines.set(key, { resource_type, ...line })
    }
    if (account_ids !== undefined && resource_ids !== undefined) {
      faults.push({
        pointer: `/serves/${index}`,
        why: 'has `account_ids` and `resource_ids`; an id states its account',
      })
    } else if (resource_ids === undefined && account_ids === undefined) {
      add(`/serves/${index}`, { account_id: '', id_pattern: '' })
    }
    for (const [place, account_id] of (account_ids ?? []).entries()) {
      add(`/serves/${index}/account_ids/${place}`, { account_id, id_pattern: '' })
    }
    for (const [place, id_pattern] of (resource_ids ?? []).entries()) {
      const pointer = `/serves/${index}/resource_ids/${place}`
      const why = findPatternFault(resource_type, id_pattern)
      if (why !== undefined) faults.push({ pointer, why })
      add(pointer, { account_id: '', id_pattern })
    }
  }
  if (lines.size > maxLines) faults.push({ pointer: '/serves', why: `names more than ${maxLines} accounts and ids` })
  if (faults.length > 0) throw invalidInput(faults)
  return inOrder([...lines.values()])
}

function findPatternFault(type: AskedType, id_pattern: string): string | undefined {
  const stars = id_pattern.split('*').length - 1
  if (stars === 0) return findIdFault({ type, id: id_pattern })
  if (stars > maxStars) return `must have at most ${maxStars} \`*\``
  return id_pattern.length > stars ? undefined : 'must not match everything; leave `resource_ids` out instead'
}

/** The lines as in replies: for each type first the line for all accounts, then the named accounts, then the ids. */
export function servesOf(lines: readonly ServedLine[]): Serves {
  const ordered = inOrder(lines)
  return servedTypes.flatMap((resource_type) => {
    const served = ordered.filter((line) => line.resource_type === resource_type)
    const resource_ids = served.map(({ id_pattern }) => id_pattern).filter((pattern) => pattern !== '')
    const account_ids = served.map(({ account_id }) => account_id).filter((id) => id !== '')
    return [
      ...(served.some(({ account_id, id_pattern }) => `${account_id}${id_pattern}` === '') ? [{ resource_type }] : []),
      ...(account_ids.length > 0 ? [{ resource_type, account_ids }] : []),
      ...(resource_ids.length > 0 ? [{ resource_type, resource_ids }] : []),
    ]
  })
}

/** INVARIANT: all writers write lines in this order, so that concurrent writers do not deadlock. */
function inOrder(lines: readonly ServedLine[]): ServedLine[] {
  return lines.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

function keyOf({ resource_type, account_id, id_pattern }: ServedLine): string {
  return `${resource_type} ${account_id} ${id_pattern}`
}

/** Where access is to be given. `account_id`: null where the account is not known. */
export type ServedPlace = { type: string; id: string; account_id: string | null }

/** A place in the answer of `servedPlaces`. */
export function keyOfPlace({ type, id }: Pick<ServedPlace, 'type' | 'id'>): string {
  return `${type} ${id}`
}
