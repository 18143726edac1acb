import { sql } from '../../src/db/sql.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { newId } from '../../src/kernel/id.ts'
import type { NewSession } from '../../src/sessions/session.ts'
import { sessionInsert } from '../../src/sessions/session-store.ts'

const aDay = 86_400

/** A session of a sign-in with a password and a second factor, of a day: an admin of a live tenant needs both. */
export function aSession(): NewSession {
  const proof = { amr: ['pwd', 'otp', 'mfa'], auth_time: undefined, by: undefined }
  return { ...proof, id: newId(), source_ip: '127.0.0.1', user_agent: undefined, lifetime_seconds: aDay }
}

/** Begins such a session of a user, active or not, and returns its id. */
export async function beginSession(tx: Tx, user_id: string): Promise<string> {
  const session = aSession()
  await tx.write([sessionInsert(tx, session, sql`(select ${user_id}::uuid as user_id) whom`)])
  return session.id
}
