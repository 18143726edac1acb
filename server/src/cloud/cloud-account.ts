import { type Static, Type } from 'typebox'
import { AnyObject, Line } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'

/** The maximum number of entries in one call, and the maximum size of their JSON together. */
export const maxEntries = 5_000
export const maxBodyBytes = 4 * 1024 * 1024
/** The maximum size of an entry's metadata, in bytes of JSON in UTF-8. */
export const maxMetadata = 16 * 1024
/** The maximum depth of an account in organizational units. */
export const maxUnits = 16

const unitForm = /^ou-[0-9a-z]{4}-[0-9a-z]{8}$/
const maxFaultsShown = 20

const aboutId = { description: "the entry's own id, by which a later call updates it" }
const aboutNumber = { description: 'the account number; access can be requested only to one of 12 digits' }
const aboutName = { description: 'a display name; default: the account number' }
const rank = Type.Integer({
  minimum: -2_147_483_648,
  maximum: 2_147_483_647,
  description: 'the list begins with the lowest; default: 0',
})

/** An entry of the account cache. */
export const CloudAccount = Type.Object(
  {
    id: Type.String(aboutId),
    name: Type.String(aboutName),
    account_id: Type.String(aboutNumber),
    metadata: AnyObject,
    rank,
  },
  { title: 'CloudAccount' },
)
export type CloudAccount = Static<typeof CloudAccount>

/** An entry as sent by a caller. */
export const CloudAccountInput = Type.Object(
  {
    id: Line(128, aboutId),
    account_id: Line(128, aboutNumber),
    name: Type.Optional(Line(200, aboutName)),
    metadata: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...AnyObject,
        description:
          `at most ${maxMetadata / 1024} KiB of JSON, without names that begin with \`__\`; \`organizational_unit_ids\`: the units that contain ` +
          `the account, at most ${maxUnits}, such as \`ou-ab12-12345678\``,
      }),
    ),
    rank: Type.Optional(rank),
  },
  { title: 'CloudAccountInput', additionalProperties: false },
)
export type CloudAccountInput = Static<typeof CloudAccountInput>

/** Fills the omitted fields of an entry. */
export function cloudAccountOf(input: CloudAccountInput): CloudAccount {
  const { id, account_id, name = account_id, metadata = {}, rank = 0 } = input
  return { id, name, account_id, metadata, rank }
}

/**
 * Checks what the schema cannot express about the entries of one call: unique ids, metadata within its limits, and units
 * that policies can read.
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
      faults.push({
        pointer: `/resources/${index}/id`,
        why: `is also the id of \`/resources/${before}\`; send it once`,
      })
    const fault = entry.metadata && findMetadataFault(entry.metadata)
    if (fault) faults.push({ pointer: `/resources/${index}/metadata${fault.pointer}`, why: fault.why })
  }
  if (faults.length > 0) throw invalidInput(faults)
}

/** The fault of an entry's metadata, with the pointer inside it; undefined for valid metadata. */
export function findMetadataFault(metadata: Record<string, unknown>): FaultyField | undefined {
  const size = Buffer.byteLength(JSON.stringify(metadata))
  if (size > maxMetadata) {
    return { pointer: '', why: `is ${size} bytes of JSON; send at most ${maxMetadata}` }
  }
  // The policy engine reserves such names, and it receives the tags.
  const reserved = Object.keys(metadata).find((key) => key.startsWith('__'))
  if (reserved !== undefined) {
    return {
      pointer: `/${escaped(reserved)}`,
      why: 'begins with `__`, which is reserved for the policy engine; rename it',
    }
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

/** The maximum length of a tag's key and value, as AWS has it. */
const maxTag = { key: 128, value: 256 }

/**
 * What an inventory found of an account, within the limits of metadata. Nobody can be asked to correct it: tags that metadata cannot
 * have, or that no longer fit, and odd units are left out.
 */
export function soundMetadata(
  found: Readonly<Record<string, string>>,
  units: readonly string[],
): { tags: Record<string, string>; facts: { organizational_unit_ids?: string[] } } {
  const organizational_unit_ids = [...new Set(units.filter((unit) => unitForm.test(unit)))].slice(0, maxUnits)
  const facts = organizational_unit_ids.length === 0 ? {} : { organizational_unit_ids }
  const tags: [string, string][] = []
  let room = maxMetadata - Buffer.byteLength(JSON.stringify(facts))
  for (const [key, value] of Object.entries(found)) {
    const size = Buffer.byteLength(JSON.stringify({ [key]: value }))
    if (size > room || !isSoundTag(key, value)) continue
    room -= size
    tags.push([key, value])
  }
  return { tags: Object.fromEntries(tags), facts }
}

function isSoundTag(key: string, value: string): boolean {
  if (key === '' || key.length > maxTag.key || value.length > maxTag.value) return false
  if (key.startsWith('__') || key === unitsKey) return false
  return [key, value].every((text) => text.isWellFormed() && !text.includes('\0'))
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The account data that policies see. It always comes from the cache, never from the requester. */
export type AccountPolicyView = {
  name: string
  /** The strings at the top level of the metadata. */
  tags: Readonly<Record<string, string>>
  /** The organizational units that contain the account, each once. */
  organizational_unit_ids: readonly string[]
}

/** Access to an uncached account may be requested. The account has no name, no tags and no units. */
export const unknownAccount: AccountPolicyView = { name: '', tags: {}, organizational_unit_ids: [] }

/** INVARIANT: policies see strings only, whatever was stored. */
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

/** Accounts that rules cannot tell apart. `name`: null where rules read no names. */
export type CountedKind = {
  kind: { account_id: string | null; tags: Record<string, string>; organizational_unit_ids: string[] }
  name: string | null
  count: number
  /** The first of them in the order of the list; `place` is their place there. */
  first: { id: string; name: string; place: number }[]
}
