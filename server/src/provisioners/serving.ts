import { type Static, Type } from 'typebox'
import { OneOf } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { type AskedType, askedTypes } from '../policy-engine/cedar/schema.ts'

/** Requests for these types are granted on accounts, one grant each. */
const givenOnAccounts: readonly AskedType[] = ['cloud_permission_set', 'cloud_organizational_unit']

/** The types of resource on which access is given. */
const servedTypes = askedTypes.filter((type) => !givenOnAccounts.includes(type))

const maxLines = 1_000

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
    },
    { additionalProperties: false },
  ),
  {
    maxItems: 2 * servedTypes.length,
    description: `no account twice for a type; at most ${maxLines.toLocaleString('en')} accounts in all`,
  },
)
type Serves = Static<typeof Serves>

/** One line of what is served. `account_id`: empty for every account that has no line of its own. */
export type ServedLine = { resource_type: string; account_id: string }

/** The lines of a request, sorted; throws 400 for a duplicate line, or for too many lines. */
export function linesOf(serves: Serves): ServedLine[] {
  const lines = new Map<string, ServedLine>()
  const faults: FaultyField[] = []
  for (const [index, { resource_type, account_ids }] of serves.entries()) {
    for (const [place, account_id] of (account_ids ?? ['']).entries()) {
      const pointer = `/serves/${index}${account_ids === undefined ? '' : `/account_ids/${place}`}`
      const key = `${resource_type} ${account_id}`
      if (lines.has(key)) faults.push({ pointer, why: 'is named twice; name it once' })
      lines.set(key, { resource_type, account_id })
    }
  }
  if (lines.size > maxLines) faults.push({ pointer: '/serves', why: `names more than ${maxLines} accounts` })
  if (faults.length > 0) throw invalidInput(faults)
  return inOrder([...lines.values()])
}

/** The lines as in replies: for each type first the line for all accounts, then the named accounts. */
export function servesOf(lines: readonly ServedLine[]): Serves {
  const ordered = inOrder(lines)
  return servedTypes.flatMap((resource_type) => {
    const accounts = ordered.filter((line) => line.resource_type === resource_type).map((line) => line.account_id)
    const account_ids = accounts.filter((id) => id !== '')
    return [
      ...(accounts.includes('') ? [{ resource_type }] : []),
      ...(account_ids.length > 0 ? [{ resource_type, account_ids }] : []),
    ]
  })
}

/** INVARIANT: all writers write lines in this order, so that concurrent writers do not deadlock. */
function inOrder(lines: readonly ServedLine[]): ServedLine[] {
  const keyOf = ({ resource_type, account_id }: ServedLine) => `${resource_type} ${account_id}`
  return lines.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}
