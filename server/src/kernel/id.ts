import { randomUUID } from 'node:crypto'

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const maxCounter = 0xfff

const userOrMe = /^(?:[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|me)$/

/** A user's id, or `me`, which stands for the caller: as a pattern of a schema, and its rule as a half-sentence. */
export const userPattern = userOrMe.source
export const userRule = 'must be a user’s id, or `me`'

const provisionerOrSandbox = /^(?:[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}|sandbox)$/

/** A provisioner's id, or `sandbox`, which stands for the one of the rehearsal: a pattern and its rule. */
export const provisionerPattern = provisionerOrSandbox.source
export const provisionerRule = 'must be a provisioner’s id, or `sandbox`'

let lastMoment = 0
let counter = 0

/**
 * A new uuid, version 7: 48 bits of time, a 12-bit counter, 62 random bits. Within a process each id sorts after the previous
 * one. If the clock stands still or goes back, the counter continues from the last moment.
 * @param now milliseconds since 1970. It only orders ids; no decision uses it.
 */
export function newId(now: number = Date.now()): string {
  const random = randomUUID()
  if (now > lastMoment) {
    lastMoment = Math.floor(now)
    // The counter starts in its lower half, so that a busy millisecond has room to count.
    counter = Number.parseInt(random.slice(0, 3), 16) >> 1
  } else if (counter < maxCounter) {
    counter += 1
  } else {
    lastMoment += 1
    counter = 0
  }
  const time = lastMoment.toString(16).padStart(12, '0')
  const count = counter.toString(16).padStart(3, '0')
  // The tail of a version 4 uuid is also valid for version 7: the variant and 62 random bits.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}${random.slice(18)}`
}

/** Whether the text names a user: by an id, or as `me`. */
export function namesUser(text: string): boolean {
  return userOrMe.test(text)
}

/** Whether the text names a provisioner: by an id, or as `sandbox`. */
export function namesProvisioner(text: string): boolean {
  return provisionerOrSandbox.test(text)
}

/** A span of time, in milliseconds since 1970. */
export type TimeSpan = { from: number; until: number }

/**
 * An id in the form of `newId`, all of it chosen by at least 16 bytes: its moment within the span, its counter and its random bits. The
 * same bytes choose the same id.
 */
export function idWithin({ from, until }: TimeSpan, bytes: Buffer): string {
  const moment = Math.floor(from + (bytes.readUIntBE(0, 6) / 2 ** 48) * (until - from))
  const time = moment.toString(16).padStart(12, '0')
  // In its lower half, as a counter of `newId` starts.
  const count = (bytes.readUInt16BE(6) & 0x7ff).toString(16).padStart(3, '0')
  const tail = Buffer.from(bytes.subarray(8, 16))
  tail.writeUInt8((tail.readUInt8(0) & 0x3f) | 0x80, 0)
  const random = tail.toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${random.slice(0, 4)}-${random.slice(4)}`
}

/** The moment in an id of version 7; undefined for another id. */
export function momentOf(id: string): Date | undefined {
  return isUuid(id) && id[14] === '7' ? new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)) : undefined
}

/** The lowest id that can be created at that moment, by the creator's clock. */
export function lowestIdAt(moment: Date): string {
  const time = moment.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/** Whether the text is a uuid in the stored form: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return canonical.test(text)
}

/** The uuid in its stored form; upper case is accepted. Undefined for any other spelling (braces, no hyphens, spaces). */
export function readUuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  return isUuid(lower) ? lower : undefined
}

/** The length of an id in bytes. */
export const idLength = 16

/** The bytes of an id, for a text that names records. */
export function bytesOfId(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}

/** The id of these bytes, in its stored form. */
export function idOfBytes(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
