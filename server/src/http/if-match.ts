import { createHash } from 'node:crypto'
import { invalidInput, Problem } from '../kernel/errors.ts'

/** What the header `If-Match` wants: one of these tags, any state of a record that exists, or nothing. */
export type IfMatch = readonly string[] | 'any' | undefined

// RFC 9110, 8.8.3 and 5.6.1: a list may have empty elements, which count for nothing.
const listOfTags =
  /^[\t ]*(?:,[\t ]*)*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[\t ]*(?:,[\t ]*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"[\t ]*)?)*$/

/**
 * Reads `If-Match`; the tags keep their quotes. Weak tags are left out: they do not prove that the record is the same.
 * @throws Problem 400 for a header that is not a list of tags
 */
export function readIfMatch(header: string | undefined): IfMatch {
  if (header === undefined) return undefined
  if (header.trim() === '*') return 'any'
  if (header.length <= 4_096 && listOfTags.test(header)) {
    return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).filter((tag) => !tag.startsWith('W/'))
  }
  throw invalidInput([{ pointer: 'If-Match', why: 'must be `*`, or the `ETag` of an answer, in its quotes' }])
}

/**
 * For use under the lock of the record, or beside the guard of the statement that changes it.
 * @param etag undefined: there is no such record yet
 * @throws Problem 412 when the record is not as wanted
 */
export function requireMatch(wanted: IfMatch, etag: string | undefined): void {
  if (wanted === undefined || (etag !== undefined && (wanted === 'any' || wanted.includes(etag)))) return
  throw new Problem('precondition_failed', 'the record has changed since the `ETag` in `If-Match`; read it again', {
    details: { etag: etag ?? null },
  })
}

/** How often a change is tried when another comes between its read and its write. */
export const maxAttempts = 5

/**
 * The `ETag` of a record that has no version: a digest of its fields, in whatever order they come. `leftOut` names those that
 * are no part of its state, such as a warning or a secret that only one answer shows.
 */
export function recordTag(record: object, ...leftOut: readonly string[]): string {
  const state = Object.entries(record).filter(([name, value]) => value !== undefined && !leftOut.includes(name))
  const text = JSON.stringify(Object.fromEntries(state), inOrder)
  return `"${createHash('sha256').update(text).digest('base64url')}"`
}

function inOrder(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The `ETag` of a record that counts its changes. */
export function versionTag({ version }: { version: number }): string {
  return `"${version}"`
}
