import { sql } from '../db/sql.ts'
import type { Statement } from '../kernel/context.ts'

/**
 * INVARIANT: code that asks who is in a group asks this too: a membership by a claim ends by itself. `m` names a row of
 * group_member.
 */
export function isCurrent(m: Statement): Statement {
  return sql`(${m}.expires_at is null or ${m}.expires_at > clock_timestamp())`
}

/** When the membership was given, which may be before it began. */
export function givenAt(m: Statement): Statement {
  return sql`coalesce(${m}.given_at, ${m}.created_at)`
}
