import { badCursor } from '../kernel/page.ts'
import type { DerivedKeys } from '../secrets/root-key.ts'
import { seal, unsealWithAny } from '../secrets/seal.ts'
import type { ResumeTokens } from './operation.ts'

/** Seals the position where a page ended, so that clients cannot read it, alter it or use it for another list. */
export type CursorCodec = {
  seal(after: readonly string[], boundTo: readonly string[]): string
  /** Throws 400 for a cursor that was altered, or made for another tenant, endpoint or filter. */
  open(cursor: string, boundTo: readonly string[]): readonly string[]
  /** The same, but undefined instead of an error. */
  find(cursor: string, boundTo: readonly string[]): readonly string[] | undefined
}

/** A name, an id and an action of the greatest length, all of them outside ASCII. */
const maxCursorLength = 4_000

/** Seals cursors with the key in use and opens them with any of `keys`, which are derived for cursors only. */
export function cursorCodec(keys: DerivedKeys): CursorCodec {
  const find: CursorCodec['find'] = (cursor, boundTo) => {
    if (cursor.length > maxCursorLength) return undefined
    try {
      return JSON.parse(unsealWithAny(keys.all(), cursor, [...boundTo]).toString('utf8')) as string[]
    } catch {
      return undefined
    }
  }
  return {
    seal: (after, boundTo) => seal(keys.inUse(), JSON.stringify(after), [...boundTo]),
    open(cursor, boundTo) {
      const after = find(cursor, boundTo)
      if (after === undefined) throw badCursor()
      return after
    },
    find,
  }
}

/** The resume tokens of one caller in one stream, which `boundTo` names. */
export function resumeTokensOf(cursors: CursorCodec, boundTo: readonly string[]): ResumeTokens {
  return {
    seal: (position) => cursors.seal(position, boundTo),
    find: (text) => cursors.find(text, boundTo),
  }
}
