import { type Static, Type } from 'typebox'
import { AnyObject } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'

/** How many entries one call may bring, and how large their JSON may be together. */
export const maxEntries = 5_000
export const maxBodyBytes = 4 * 1024 * 1024
/** Bytes of an entry's metadata, as JSON in UTF-8. */
export const maxMetadata = 16 * 1024
/** How deep an account may lie in organizational units. */
export const maxUnits = 16

const unitForm = /^ou-[0-9a-z]{4}-[0-9a-z]{8}$/
const maxFaultsShown = 20

/** One line: no control characters, which no name needs and every log and cursor would have to escape. */
function Line(maxLength: number, description: string) {
  return Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description })
}

const id = Line(128, "the entry's own id: what a later call finds it by")
const account_id = Line(128, 'the account number; only one of 12 digits can be asked for')
const name = Line(200, 'for people; the account number where it is left out')
const rank = Type.Integer({
  minimum: -2_147_483_648,
  maximum: 2_147_483_647,
  description: 'the list begins with the lowest; 0 where it is left out',
})

/** An entry of the account cache. */
export const CloudAccount = Type.Object({ id, name, account_id, metadata: AnyObject, rank }, { title: 'CloudAccount' })
export type CloudAccount = Static<typeof CloudAccount>

/** An entry as it is sent. */
export const CloudAccountInput = Type.Object(
  {
    id,
    account_id,
    name: Type.Optional(name),
    metadata: Type.Optional(AnyObject),
    rank: Type.Optional(rank),
  },
  { title: 'CloudAccountInput', additionalProperties: false },
)
export type CloudAccountInput = Static<typeof CloudAccountInput>

/** Fills what an entry leaves out. */
export function cloudAccountOf(input: CloudAccountInput): CloudAccount {
  const { id, account_id, name = account_id, metadata = {}, rank = 0 } = input
  return { id, name, account_id, metadata, rank }
}

/**
 * What the schema cannot say of the entries of one call: each id once, metadata within its bounds, and units that policy
 * can read.
 * @throws Problem 400 naming the first faults by their pointers
 */
export function requireSoundEntries(entries: readonly CloudAccountInput[]): void {
  const firstAt = new Map<string, number>()
  const faults: FaultyField[] = []
  for (const [index, entry] of entries.entries()) {
    if (faults.length >= maxFaultsShown) break
    const before = firstAt.get(entry.id)
    if (before === undefined) firstAt.set(entry.id, index)
    else
      faults.push({ pointer: `/resources/${index}/id`, why: `is that of \`/resources/${before}\` too; send it once` })
    const fault = entry.metadata && findMetadataFault(entry.metadata)
    if (fault) faults.push({ pointer: `/resources/${index}/metadata${fault.pointer}`, why: fault.why })
  }
  if (faults.length > 0) throw invalidInput(faults)
}

/** What is wrong with the metadata of an entry, by the pointer inside it; undefined when nothing is. */
export function findMetadataFault(metadata: Record<string, unknown>): FaultyField | undefined {
  const size = Buffer.byteLength(JSON.stringify(metadata))
  if (size > maxMetadata) {
    return { pointer: '', why: `is ${size} bytes of JSON; at most ${maxMetadata} are kept` }
  }
  // The policy engine has a meaning of its own for such names, and tags are handed to it.
  const reserved = Object.keys(metadata).find((key) => key.startsWith('__'))
  if (reserved !== undefined) {
    return { pointer: `/${escaped(reserved)}`, why: 'begins with `__`, which is kept for the policy engine; rename it' }
  }
  if (!Object.hasOwn(metadata, unitsKey)) return undefined
  return findUnitsFault(metadata[unitsKey])
}

const unitsKey = 'organizational_unit_ids'

function findUnitsFault(units: unknown): FaultyField | undefined {
  const pointer = `/${unitsKey}`
  if (!Array.isArray(units)) return { pointer, why: 'must be an array of unit ids such as `ou-ab12-12345678`' }
  if (units.length > maxUnits) return { pointer, why: `must not have more than ${maxUnits} units` }
  const index = units.findIndex((unit) => typeof unit !== 'string' || !unitForm.test(unit))
  if (index === -1) return undefined
  return { pointer: `${pointer}/${index}`, why: 'must be a unit id such as `ou-ab12-12345678`' }
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** What policy may know of an account: never the requester's word, always the cache's. */
export type AccountPolicyView = {
  name: string
  /** The strings at the top level of the metadata. */
  tags: Readonly<Record<string, string>>
  /** The organizational units that it lies in, each once. */
  organizational_unit_ids: readonly string[]
}

/** An account that the cache does not know may be asked for: it has no name, no tags and no units. */
export const unknownAccount: AccountPolicyView = { name: '', tags: {}, organizational_unit_ids: [] }

/** INVARIANT: shows policy nothing that is not a string, whatever was stored. */
export function policyViewOf(account: Pick<CloudAccount, 'name' | 'metadata'>): AccountPolicyView {
  const units: unknown = account.metadata[unitsKey]
  const known = Array.isArray(units) ? units.filter((unit) => typeof unit === 'string' && unitForm.test(unit)) : []
  return {
    name: account.name,
    tags: Object.fromEntries(
      Object.entries(account.metadata).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string' && !entry[0].startsWith('__'),
      ),
    ),
    organizational_unit_ids: [...new Set<string>(known)].slice(0, maxUnits),
  }
}
