import { badCursor } from '../kernel/page.ts'
import type { DerivedKeys } from '../secrets/root-key.ts'
import { seal, unsealWithAny } from '../secrets/seal.ts'

/** Seals the position where a page ended, so that clients cannot read it, alter it or use it for another list. */
export type CursorCodec = {
  seal(after: readonly string[], boundTo: readonly string[]): string
  /** Throws 400 for a cursor that was altered, or made for another tenant, endpoint or filter. */
  open(cursor: string, boundTo: readonly string[]): readonly string[]
}

/** A name, an id and an action of the greatest length, all of them outside ASCII. */
const maxCursorLength = 4_000

/** Seals cursors with the key in use and opens them with any of `keys`, which are derived for cursors only. */
export function cursorCodec(keys: DerivedKeys): CursorCodec {
  return {
    seal: (after, boundTo) => seal(keys.inUse(), JSON.stringify(after), [...boundTo]),
    open(cursor, boundTo) {
      try {
        if (cursor.length > maxCursorLength) throw new Error('too long')
        return JSON.parse(unsealWithAny(keys.all(), cursor, [...boundTo]).toString('utf8')) as string[]
      } catch {
        throw badCursor()
      }
    },
  }
}
