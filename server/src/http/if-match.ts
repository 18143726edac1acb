import { invalidInput, Problem } from '../kernel/errors.ts'

const listOfTags = /^\s*(?:W\/)?"[\x21\x23-\x7e]*"\s*(?:,\s*(?:W\/)?"[\x21\x23-\x7e]*"\s*)*$/

/**
 * The tags that `If-Match` names, quotes and all; undefined where any will do. A weak one is left out: it says nothing of
 * whether the record is the same.
 * @throws Problem 400 for what is no list of tags
 */
export function readIfMatch(header: string | undefined): string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  if (header.length <= 4_096 && listOfTags.test(header)) {
    return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).filter((tag) => !tag.startsWith('W/'))
  }
  throw invalidInput([{ pointer: 'If-Match', why: 'must be `*`, or the `ETag` of an answer, in its quotes' }])
}

/** @throws Problem 412 where the record is not as one of the tags says */
export function requireMatch(wanted: readonly string[] | undefined, etag: string): void {
  if (wanted === undefined || wanted.includes(etag)) return
  throw new Problem(
    'precondition_failed',
    'the record is not as `If-Match` says: somebody changed it meanwhile; read it again',
    { details: { etag } },
  )
}
