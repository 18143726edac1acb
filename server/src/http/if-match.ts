import { invalidInput, Problem } from '../kernel/errors.ts'

const listOfTags = /^\s*(?:W\/)?"[\x21\x23-\x7e]*"\s*(?:,\s*(?:W\/)?"[\x21\x23-\x7e]*"\s*)*$/

/**
 * The tags in `If-Match`, including their quotes; undefined when any tag matches. Weak tags are left out: they do not prove
 * that the record is the same.
 * @throws Problem 400 for a header that is not a list of tags
 */
export function readIfMatch(header: string | undefined): string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  if (header.length <= 4_096 && listOfTags.test(header)) {
    return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).filter((tag) => !tag.startsWith('W/'))
  }
  throw invalidInput([{ pointer: 'If-Match', why: 'must be `*`, or the `ETag` of an answer, in its quotes' }])
}

/** @throws Problem 412 when the record matches none of the tags */
export function requireMatch(wanted: readonly string[] | undefined, etag: string): void {
  if (wanted === undefined || wanted.includes(etag)) return
  throw new Problem('precondition_failed', 'the record has changed since the `ETag` in `If-Match`; read it again', {
    details: { etag },
  })
}
