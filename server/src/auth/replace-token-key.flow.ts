import type { Database } from '../db/transaction.ts'
import type { RootKey } from '../secrets/root-key.ts'
import { endAllSessions } from './end-all-sessions.flow.ts'
import { rotateTokenKey } from './rotate-token-key.flow.ts'
import { hasTakenOver } from './signing-key-store.ts'

const pollEveryMs = 1_000

export type Replacing = {
  /** Called once there is a new key, before anything ends. */
  onMade(made: NewTokenKey): void
  /** Waits between two checks of the database's clock, for so many milliseconds. */
  pause(ms: number): Promise<void>
}

/** A new token key. From `signs_from` on, all others are invalid. */
export type NewTokenKey = { kid: string; signs_from: string; others_retire_at: string }

/**
 * Replaces token keys that leaked: makes a new key, waits until it takes over, and ends every session that began before that. Returns
 * also the number of sessions.
 *
 * The sessions end twice: at once, so that the holder of an old key can no longer use them; and after the takeover those that began
 * meanwhile, since an old key could give each of them to a browser, whose cookie needs no key.
 * INVARIANT: the second end comes after the takeover. A session that is committed later still was never visible to a valid old key.
 * @throws Error with a sentence when the key was made and the rest failed
 */
export async function replaceTokenKey(
  database: Pick<Database, 'tenant' | 'work' | 'service'>,
  root: RootKey,
  { onMade, pause }: Replacing,
): Promise<NewTokenKey & { sessions: number }> {
  const made = await rotateTokenKey(database.service, root, { endTokens: true })
  onMade(made)
  try {
    const atOnce = await endAllSessions(database, { begunBefore: made.signs_from })
    while (!(await hasTakenOver(database.service, made.kid))) await pause(pollEveryMs)
    const meanwhile = await endAllSessions(database, { begunBefore: made.signs_from })
    return { ...made, sessions: atOnce + meanwhile }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${why}; not all sessions have ended: run the command again, which is safe at any time`, { cause })
  }
}
