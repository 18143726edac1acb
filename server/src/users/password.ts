import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { Problem } from '../kernel/errors.ts'
import { createSemaphore } from '../kernel/semaphore.ts'

const argon2id = promisify(argon2)

/**
 * Two passes, one lane, as the OWASP cheat sheet has it, over 33 MiB rather than its 19: glibc keeps freed blocks up to
 * 32 MiB for the thread that used them, which left the service 130 MB larger for good; a larger block goes back at once.
 */
const cost = { memory: 33_792, passes: 2, parallelism: 1 }
const saltLength = 16
const tagLength = 32
/** A stored hash may ask for this much and no more, so that a planted one cannot take the machine's memory. */
const maxCost = { memory: 131_072, passes: 10, parallelism: 4 }

const shortest = 8
const longest = 128

type Hash = typeof cost & { salt: Buffer; tag: Buffer }

/** A random tag, which no password meets; checking against it costs what checking any hash costs. */
const nobodys: Hash = { ...cost, salt: randomBytes(saltLength), tag: randomBytes(tagLength) }

const common = readCommonPasswords()

/**
 * The argon2id hash of a password as a PHC string (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`), with a salt of its own.
 * The password is normalised to NFKC first, as NIST SP 800-63B advises, so that it is the same from every keyboard.
 */
export async function hashPassword(text: string): Promise<string> {
  const salt = randomBytes(saltLength)
  const tag = await tagOf(text, { ...cost, salt }, tagLength)
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

/**
 * Whether the text is the password that `phc` was made of. Without a hash, or with one that cannot be read, the same work is
 * done and the answer is no: how long it takes tells nobody whether the account exists.
 */
export async function verifyPassword(text: string, phc: string | undefined): Promise<boolean> {
  const hash = readPhc(phc ?? '') ?? nobodys
  const tag = await tagOf(text, hash, hash.tag.length)
  return timingSafeEqual(tag, hash.tag)
}

/**
 * What is wrong with a new password, in a half-sentence for its owner; undefined when it will do. Length and a list of the
 * commonest alone: no rules about kinds of letters. Length counts code points after normalisation.
 */
export function passwordFaults(text: string, rules: { min_length: number }): string | undefined {
  const password = text.normalize('NFKC')
  const length = [...password].length
  const least = Math.max(shortest, rules.min_length)
  if (length < least) return `has ${length} characters: use at least ${least}`
  if (length > longest) return `has ${length} characters: use at most ${longest}`
  if (common.has(password)) return 'is among the commonest passwords: use one that nobody else would'
  return undefined
}

/** Each takes 33 MiB, 50 ms and a thread of the four that files and name look-ups need too: 50 that wait are about a second. */
const hashing = createSemaphore({
  limit: 2,
  maxWaiting: 50,
  refusal: () => new Problem('unavailable', 'too many at once; try again in a moment'),
})

/** What argon2 makes of the password, when there is room for it. */
function tagOf(text: string, { salt, ...how }: Omit<Hash, 'tag'>, length: number): Promise<Buffer> {
  const message = text.normalize('NFKC')
  return hashing.run(() => argon2id('argon2id', { ...how, message, nonce: salt, tagLength: length }))
}

const phcForm =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/

/** The hash that a PHC string tells; undefined when it is none, or asks for more work than is ever stored. */
function readPhc(phc: string): Hash | undefined {
  const [, memory, passes, parallelism, salt = '', tag = ''] = phcForm.exec(phc) ?? []
  const asked = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const bearable =
    asked.parallelism >= 1 &&
    asked.parallelism <= maxCost.parallelism &&
    asked.passes >= 1 &&
    asked.passes <= maxCost.passes &&
    asked.memory >= 8 * asked.parallelism &&
    asked.memory <= maxCost.memory
  return bearable ? { ...asked, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') } : undefined
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/** The lines below the row of dashes; above it stand the list's source and licence. */
function readCommonPasswords(): ReadonlySet<string> {
  const text = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8')
  const [, list = ''] = text.split('\n--------\n')
  return new Set(list.trimEnd().split('\n'))
}
