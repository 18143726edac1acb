import { invalidInput } from '../kernel/errors.ts'
import { seal, unseal } from '../secrets/seal.ts'

/** Seals where a page ended, so that nobody can read, alter or reuse it elsewhere. */
export type CursorCodec = {
  seal(after: readonly string[], boundTo: readonly string[]): string
  /** Throws 400 for a cursor that was altered, or made for another tenant, endpoint or filter. */
  open(cursor: string, boundTo: readonly string[]): readonly string[]
}

const longestCursor = 2_000

/** Cursors under a key derived for them alone. */
export function cursorCodec(key: Buffer): CursorCodec {
  return {
    seal: (after, boundTo) => seal(key, JSON.stringify(after), [...boundTo]),
    open(cursor, boundTo) {
      try {
        if (cursor.length > longestCursor) throw new Error('too long')
        return JSON.parse(unseal(key, cursor, [...boundTo]).toString('utf8')) as string[]
      } catch {
        throw invalidInput([
          { pointer: 'cursor', why: 'is not a cursor of this list with these filters; leave it out to begin anew' },
        ])
      }
    },
  }
}
