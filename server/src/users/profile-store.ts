import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { Managed } from './managed.ts'
import { directoryOf } from './managed-store.ts'
import type { Preferences } from './preferences.ts'
import type { OwnProfile, ProfileChange } from './profile.ts'

const profile = sql`u.id, u.email, u.name, u.auth_provider, u.first_name, u.last_name, u.display_name, u.avatar_base64`
const preferences = sql`u.locale, u.timezone, u.date_format, u.time_format`

/** Undefined for a user who was deleted since their credential was checked. */
export async function findOwnProfile(tx: Tx, user_id: string | null): Promise<OwnProfile | undefined> {
  const [found] = await tx.read(sql<OwnProfile>`select ${profile} from tenant_user u where ${isOwnUser(tx, user_id)}`)
  return found
}

export async function findPreferences(tx: Tx, user_id: string | null): Promise<Preferences | undefined> {
  const [found] = await tx.read(
    sql<Preferences>`select ${preferences} from tenant_user u where ${isOwnUser(tx, user_id)}`,
  )
  return found
}

/** Locks the user until the transaction ends, and says who manages them; only inside `interactive`. */
export async function lockOwnUser(tx: Tx, user_id: string | null): Promise<Managed> {
  const [locked] = await tx.read(sql<Managed>`select ${directoryOf(sql`u`)} as identity_provider_id from tenant_user u
    where ${isOwnUser(tx, user_id)} for no key update of u`)
  return locked ?? { identity_provider_id: null }
}

/** Writes the fields that differ and emits an event that names the fields. Undefined when nothing differs or the user is gone. */
export async function saveOwnProfile(
  ctx: WorkCtx,
  user_id: string,
  change: ProfileChange,
): Promise<OwnProfile | undefined> {
  const difference = differing(profileColumns, change)
  if (difference === undefined) return undefined
  const data = { fields: Object.keys(change) }
  const event = { type: 'user.updated', subject_type: 'user', subject_id: user_id, data } as const
  const [[saved]] = await ctx.tx.write([
    sql<OwnProfile>`with changed as (
        update tenant_user u set ${difference.assignments}, updated_at = clock_timestamp()
        where ${isOwnUser(ctx.tx, user_id)} and (${difference.condition})
        returning u.*),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${profile} from changed u`,
  ])
  return saved
}

/** Writes the fields that differ, without an event: display preferences do not concern the audit log. Undefined as above. */
export async function savePreferences(
  tx: Tx,
  user_id: string | null,
  change: Partial<Preferences>,
): Promise<Preferences | undefined> {
  const difference = differing(preferenceColumns, change)
  if (difference === undefined) return undefined
  const [[saved]] = await tx.write([
    sql<Preferences>`update tenant_user u set ${difference.assignments}, updated_at = clock_timestamp()
      where ${isOwnUser(tx, user_id)} and (${difference.condition})
      returning ${preferences}`,
  ])
  return saved
}

/** The caller's own row `u` of tenant_user. */
export function isOwnUser(tx: Tx, user_id: string | null): Statement {
  return sql`u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and u.deleted_at is null`
}

const profileColumns: Record<keyof ProfileChange, Statement> = {
  first_name: sql`first_name`,
  last_name: sql`last_name`,
  display_name: sql`display_name`,
  avatar_base64: sql`avatar_base64`,
}

const preferenceColumns: Record<keyof Preferences, Statement> = {
  locale: sql`locale`,
  timezone: sql`timezone`,
  date_format: sql`date_format`,
  time_format: sql`time_format`,
}

/** The assignments `column = value, …` and the condition that one of them changes; undefined when there is no column. */
function differing(
  columns: Record<string, Statement>,
  change: Record<string, string | null>,
): { assignments: Statement; condition: Statement } | undefined {
  const [first, ...more] = Object.entries(columns)
    .filter(([field]) => Object.hasOwn(change, field))
    .map(([field, column]) => ({
      assignments: sql`${column} = ${change[field]}::text`,
      condition: sql`u.${column} is distinct from ${change[field]}::text`,
    }))
  return more.reduce(
    (all, next) =>
      all && {
        assignments: sql`${all.assignments}, ${next.assignments}`,
        condition: sql`${all.condition} or ${next.condition}`,
      },
    first,
  )
}
