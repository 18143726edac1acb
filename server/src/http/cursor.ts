import { invalidInput } from '../kernel/errors.ts'
import type { DerivedKeys } from '../secrets/root-key.ts'
import { seal, unsealWithAny } from '../secrets/seal.ts'

/** Seals where a page ended, so that nobody can read, alter or reuse it elsewhere. */
export type CursorCodec = {
  seal(after: readonly string[], boundTo: readonly string[]): string
  /** Throws 400 for a cursor that was altered, or made for another tenant, endpoint or filter. */
  open(cursor: string, boundTo: readonly string[]): readonly string[]
}

const maxCursorLength = 2_000

/** Cursors under keys derived for them alone: the one in use seals, each opens. */
export function cursorCodec(keys: DerivedKeys): CursorCodec {
  return {
    seal: (after, boundTo) => seal(keys.inUse(), JSON.stringify(after), [...boundTo]),
    open(cursor, boundTo) {
      try {
        if (cursor.length > maxCursorLength) throw new Error('too long')
        return JSON.parse(unsealWithAny(keys.all(), cursor, [...boundTo]).toString('utf8')) as string[]
      } catch {
        throw invalidInput([
          { pointer: 'cursor', why: 'is not a cursor of this list with these filters; leave it out to begin anew' },
        ])
      }
    },
  }
}
