import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'
import { isOwnUser } from '../users/profile-store.ts'
import type { MailChoices } from './notification-kind.ts'
import type { MailedUser } from './notification-preferences.ts'

const columns = sql`u.email, u.email_verified, u.mail_choices as choices`

/** Undefined for a user who was deleted since their credential was checked. */
export async function findMailedUser(tx: Tx, user_id: string | null): Promise<MailedUser | undefined> {
  const [found] = await tx.read(sql<MailedUser>`select ${columns} from tenant_user u where ${isOwnUser(tx, user_id)}`)
  return found
}

/** Writes the choices of the user, whom the transaction has locked, and emits an event. Undefined when nothing differs. */
export async function saveMailChoices(
  ctx: WorkCtx,
  user_id: string,
  choices: MailChoices,
): Promise<MailedUser | undefined> {
  const { tx } = ctx
  // Who turns off the mails of another person leaves a trace of which.
  const data = { fields: ['notification_preferences'], mail_choices: choices }
  const event = { type: 'user.updated', subject_type: 'user', subject_id: user_id, data } as const
  const chosen = sql`${JSON.stringify(choices)}::jsonb`
  const [[saved]] = await tx.write([
    sql<MailedUser>`with changed as (
        update tenant_user u set mail_choices = ${chosen}, updated_at = clock_timestamp()
        where ${isOwnUser(tx, user_id)} and u.mail_choices <> ${chosen} returning u.*),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${columns} from changed u`,
  ])
  return saved
}
