import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Tx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const argon2id = promisify(argon2)

/**
 * Two passes, one lane, as the OWASP cheat sheet recommends, over 33 MiB rather than its 19. glibc keeps freed blocks of up
 * to 32 MiB for the thread that used them, which left the service 130 MB larger. It returns a larger block at once.
 */
const cost = { memory: 33_792, passes: 2, parallelism: 1 }
const saltLength = 16
const tagLength = 32
/** The maximum cost of a stored hash, so that a planted one cannot exhaust the machine's memory. */
const maxCost = { memory: 131_072, passes: 10, parallelism: 4 }

const minLength = 8
const maxLength = 128

type Hash = typeof cost & { salt: Buffer; tag: Buffer }

/** A random tag that no password matches. Checking against it costs as much as checking any hash. */
const dummyHash: Hash = { ...cost, salt: randomBytes(saltLength), tag: randomBytes(tagLength) }

const common = readCommonPasswords()

/** The tenant for which a password is hashed or checked. */
type OfTenant = Pick<Tx, 'tenant_id'>

/** Tenants that do not exist count as one tenant together, so that a caller gains nothing by making up ids. */
export const unknownTenants: OfTenant = { tenant_id: 'unknown' }

/**
 * The argon2id hash of a password as a PHC string (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`), with a salt of its own.
 * The password is first normalised to NFKC, as NIST SP 800-63B advises, so that it is the same from every keyboard.
 * @throws Problem 503 when too many wait
 */
export async function hashPassword(tenant: OfTenant, text: string): Promise<string> {
  const salt = randomBytes(saltLength)
  const tag = await tagOf(tenant, text, { ...cost, salt }, tagLength)
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

/**
 * Whether the text is the password that `phc` was made from. Without a hash, or with an unreadable one, the answer is no
 * after the same work, so that timing does not reveal whether the account exists.
 * @throws Problem 503 when too many wait
 */
export async function verifyPassword(tenant: OfTenant, text: string, phc: string | undefined): Promise<boolean> {
  const hash = readPhc(phc ?? '') ?? dummyHash
  const tag = await tagOf(tenant, text, hash, hash.tag.length)
  return timingSafeEqual(tag, hash.tag)
}

/**
 * Returns the fault of a new password as a half-sentence for its owner; undefined for a valid one. It checks only the length
 * and a list of the commonest passwords, not kinds of letters. Length counts code points after normalisation.
 */
export function passwordFaults(text: string, rules: { min_length: number }): string | undefined {
  const password = text.normalize('NFKC')
  const length = [...password].length
  const required = Math.max(minLength, rules.min_length)
  if (length < required) return `has ${length} characters: use at least ${required}`
  if (length > maxLength) return `has ${length} characters: use at most ${maxLength}`
  if (common.has(password)) return 'is among the commonest passwords: use an unusual one'
  return undefined
}

/**
 * Each hash takes 33 MiB, 50 ms and one of the four threads that files and DNS need too. Tenants take turns: a flood of sign-ins waits,
 * and is refused, behind itself. 50 waiting of one tenant take about a second, and 200 of all take five.
 */
const hashing = createSemaphore({
  limit: 2,
  totalLimit: 2,
  maxWaiting: 50,
  maxTotalWaiting: 200,
  refusal: () => new Problem('unavailable', 'too many password checks at once; try again in a moment'),
})

/** Computes the argon2 tag of the password once the semaphore admits it. */
function tagOf(
  { tenant_id }: OfTenant,
  text: string,
  { salt, ...how }: Omit<Hash, 'tag'>,
  length: number,
): Promise<Buffer> {
  const message = text.normalize('NFKC')
  const work = () => argon2id('argon2id', { ...how, message, nonce: salt, tagLength: length })
  return hashing.run(work, { key: tenant_id })
}

const phcForm =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/

/** Reads the hash in a PHC string; undefined when it is malformed or costs more than `maxCost`. */
function readPhc(phc: string): Hash | undefined {
  const [, memory, passes, parallelism, salt = '', tag = ''] = phcForm.exec(phc) ?? []
  const read = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const allowed =
    read.parallelism >= 1 &&
    read.parallelism <= maxCost.parallelism &&
    read.passes >= 1 &&
    read.passes <= maxCost.passes &&
    read.memory >= 8 * read.parallelism &&
    read.memory <= maxCost.memory
  return allowed ? { ...read, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') } : undefined
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** The lines below the row of dashes. The list's source and licence are above it. */
function readCommonPasswords(): ReadonlySet<string> {
  const text = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8')
  const [, list = ''] = text.split('\n--------\n')
  return new Set(list.trimEnd().split('\n'))
}
