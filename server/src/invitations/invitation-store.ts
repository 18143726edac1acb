import { sql } from '../db/sql.ts'
import { emit, emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { mailEnd } from '../mail/due-mail-store.ts'
import { groupsHeld } from '../roles/holding-store.ts'
import { isActive } from '../users/active-store.ts'
import { neverJoined } from '../users/joined-store.ts'
import type { EndAccess } from '../users/lifecycle.ts'
import { directoryOf } from '../users/managed-store.ts'
import { scopesAsArray } from '../users/user-store.ts'
import {
  type Invitable,
  type Invitation,
  invitationOf,
  maxKept,
  maxMails,
  type StoredInvitation,
} from './invitation.ts'

/**
 * The person can join as `u`: with a password as a local user, or by the tenant's own provider. A user of a provider gets no password, and
 * a user of a directory no link: the directory may have changed the address since, and says itself who they are.
 */
export function hasWayIn(u: Statement): Statement {
  return sql`(${directoryOf(u)} is null and (${u}.auth_provider = 'local' or exists (select from sign_in_setting s
    where s.tenant_id = ${u}.tenant_id and s.enabled)))`
}

const u = sql`u`
/** Whether the link of `i`, a row of invitation, was not used, revoked or replaced, and has not expired. */
export const isLive = sql`i.ended_at is null and i.expires_at > clock_timestamp()`

/** An invitation of `i` and `u`, with its mail as `m`. */
const columns = sql`i.id, i.user_id, u.email, u.name, i.expires_at, i.created_at, i.created_by, i.ended_at,
  coalesce(i.ended_as, case when i.expires_at > clock_timestamp() then 'pending' else 'expired' end) as state,
  m.state as mail_state, m.sent_at as mail_sent_at, m.last_error as mail_error`

/** Locks and returns a user until the transaction ends; undefined where there is none. Only inside `interactive`. */
export async function lockInvitable(tx: Tx, user_id: string): Promise<Invitable | undefined> {
  const whose = sql`u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and u.deleted_at is null`
  // Two statements, so that the second sees the writes of the previous lock holder.
  const [, [found]] = await tx.write([
    sql`select from tenant_user u where ${whose} for no key update`,
    sql<Invitable>`select u.id, ${isActive(u)} as is_active, ${neverJoined(u)} as never_joined,
        u.rehearsal is not null as rehearses, ${hasWayIn(u)} as has_way_in, ${scopesAsArray(tx)} as scopes,
        exists (${groupsHeld(tx, sql`u.id`)}) as in_group
      from tenant_user u where ${whose}`,
  ])
  return found
}

/** A new invitation: of its secrets the hashes, and the mailed one also sealed. `mail` undefined: there is no mail server. */
export type InvitationToInsert = {
  id: string
  user_id: string
  secret_hash: Buffer
  vouched_scopes: readonly string[]
  mail: { secret_hash: Buffer; sealed: string } | undefined
}

/** Why a mail is not sent any more. */
export const endedBefore = 'the invitation ended before the mail was sent'

/** The end of the invitation's mail, where it still waits. `ended` names a common table expression with its `id`. */
export function mailStop({ tenant_id }: Tx, ended: Statement): Statement {
  return sql`update invitation_mail m set ${mailEnd('invitation_mail', endedBefore)}
    from ${ended} ended where m.tenant_id = ${tenant_id} and m.id = ended.id and m.state = 'pending'`
}

/** Ends the live link of a user, if there is one: `ended` gives its rows. */
function liveEnd({ tenant_id }: Tx, user_id: string, as: 'replaced' | 'revoked'): Statement {
  return sql`update invitation i set ended_at = clock_timestamp(),
      ended_as = case when i.expires_at > clock_timestamp() then ${as}::text else 'expired' end
    where i.tenant_id = ${tenant_id} and i.user_id = ${user_id} and i.ended_at is null
    returning i.id, i.ended_as`
}

/**
 * Stores an invitation of a locked user in place of the live one, and emits the event. The mail is due at once; over a limit it fails.
 * INVARIANT: the mails are counted under a lock of the tenant, so that no race exceeds the limits.
 */
export async function insertInvitation(
  ctx: WorkCtx,
  { id, user_id, secret_hash, vouched_scopes, mail }: InvitationToInsert,
): Promise<Invitation> {
  const { tx } = ctx
  const { tenant_id } = tx
  const data = { invitation_id: id, mailed: mail !== undefined }
  const event = { type: 'user.invited', subject_type: 'user', subject_id: user_id, data } as const
  const counting = mail === undefined ? sql`select` : sql`select from tenant where id = ${tenant_id} for no key update`
  const [, , [made]] = await tx.write([
    sql`with ended as (${liveEnd(tx, user_id, 'replaced')}) ${mailStop(tx, sql`ended`)}`,
    counting,
    sql<StoredInvitation>`with i as (
        insert into invitation (tenant_id, id, user_id, secret_hash, mail_secret_hash, vouched_scopes, created_by)
        values (${tenant_id}, ${id}, ${user_id}, ${secret_hash}, ${mail?.secret_hash ?? null},
          ${[...vouched_scopes]}::text[], ${ctx.actor.user_id})
        returning *),
      u as (select * from tenant_user where tenant_id = ${tenant_id} and id = ${user_id}),
      may as (select ${overLimit(tx)} as error from u),
      m as (
        insert into invitation_mail (tenant_id, id, email_key, state, sealed_secrets, next_look_at, last_error)
        select i.tenant_id, i.id, u.email_key, case when may.error is null then 'pending' else 'failed' end,
          case when may.error is null then ${mail?.sealed ?? null}::text end,
          case when may.error is null then clock_timestamp() end, may.error
        from i, u, may where ${mail !== undefined}
        returning *),
      emitted as (${emit(ctx, event, sql`i`)})
      select ${columns} from i cross join u left join m on true`,
    ...oldEnd(tx, user_id),
  ])
  if (made === undefined) throw new Error('an invitation was inserted and not returned')
  return invitationOf(made)
}

/** Why no further mail may be sent to the user `u`; null where one may. Mails that were never attempted do not count. */
function overLimit({ tenant_id }: Tx): Statement {
  const { of_tenant_an_hour, to_address_a_day } = maxMails
  const counted = sql`select count(*) from invitation_mail m where m.tenant_id = ${tenant_id}
    and (m.attempts > 0 or m.next_look_at is not null)`
  return sql`case
    when (${counted} and m.created_at > clock_timestamp() - interval '1 hour') >= ${of_tenant_an_hour}
      then 'the invitations of this hour are as many as may be mailed: hand the link on yourself, or invite again later'
    when (${counted} and m.email_key = u.email_key and m.created_at > clock_timestamp() - interval '1 day')
        >= ${to_address_a_day}
      then 'this address got as many invitations today as may be mailed: hand the link on yourself' end`
}

/** Deletes the oldest invitations of a user beyond those that are kept. One whose mail still counts towards a limit stays. */
function oldEnd({ tenant_id }: Tx, user_id: string): Statement[] {
  const old = sql`any(array(
    select i.id from (select id from invitation where tenant_id = ${tenant_id} and user_id = ${user_id}
        order by id desc offset ${maxKept}) i
      left join invitation_mail m on m.tenant_id = ${tenant_id} and m.id = i.id
    where m.id is null or m.created_at <= clock_timestamp() - interval '1 day'
      or m.attempts = 0 and m.next_look_at is null))`
  return [
    sql`delete from invitation_mail where tenant_id = ${tenant_id} and id = ${old}`,
    sql`delete from invitation where tenant_id = ${tenant_id} and id = ${old}`,
  ]
}

/** One page of the invitations of a user, the newest first; undefined where there is no such user. */
export async function listInvitationsPage(
  tx: Tx,
  user_id: string,
  { limit, after }: PageRequest,
): Promise<PageRows<Invitation> | undefined> {
  const [behind = null] = after ?? []
  const found = await tx.read(sql<StoredInvitation>`select ${columns}
    from tenant_user u
    left join lateral (select * from invitation l where l.tenant_id = u.tenant_id and l.user_id = u.id
      and (${behind}::uuid is null or l.id < ${behind}::uuid) order by l.id desc limit ${limit + 1}) i on true
    left join invitation_mail m on m.tenant_id = i.tenant_id and m.id = i.id
    where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and u.deleted_at is null order by i.id desc`)
  if (found.length === 0) return undefined
  const rows = found.filter(({ id }) => id !== null).map(invitationOf)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), next: last && [last.id] }
}

/** Revokes a live invitation with its event. Returns the state that it was in; undefined where there is none. */
export async function revokeLiveInvitation(
  ctx: WorkCtx,
  { user_id, invitation_id }: { user_id: string; invitation_id: string },
): Promise<Invitation['state'] | undefined> {
  const { tx } = ctx
  const which = sql`i.tenant_id = ${tx.tenant_id} and i.id = ${invitation_id} and i.user_id = ${user_id}`
  const data = { invitation_id }
  const event = { type: 'user.invitation_revoked', subject_type: 'user', subject_id: user_id, data } as const
  const [[revoked], [now]] = await tx.write([
    sql<{ id: string }>`with ended as (
        update invitation i set ended_as = 'revoked', ended_at = clock_timestamp()
        where ${which} and ${isLive} and exists (select from tenant_user u
          where u.tenant_id = i.tenant_id and u.id = i.user_id and u.deleted_at is null)
        returning i.id),
      stopped as (${mailStop(tx, sql`ended`)}),
      emitted as (${emit(ctx, event, sql`ended`)})
      select id from ended`,
    sql<StoredInvitation>`select ${columns} from invitation i
      join tenant_user u on u.tenant_id = i.tenant_id and u.id = i.user_id and u.deleted_at is null
      left join invitation_mail m on m.tenant_id = i.tenant_id and m.id = i.id
      where ${which}`,
  ])
  return revoked === undefined ? now?.state : 'pending'
}

/**
 * Ends the link of a locked user who leaves, and then their access: whatever stops a user also stops who would become that user by a link.
 */
export function endingInvitations(endAccess: EndAccess): EndAccess {
  return async (ctx, user_id, reasons) => {
    const event = { type: 'user.invitation_revoked', subject_type: 'user', subject_id: user_id } as const
    const end = sql`with ended as (${liveEnd(ctx.tx, user_id, 'revoked')}),
      stopped as (${mailStop(ctx.tx, sql`ended`)}),
      left_over as (select jsonb_build_object('invitation_id', id) as facts from ended where ended_as = 'revoked')
      ${emitWithFacts(ctx, event, sql`left_over`)}`
    const [, ended] = await Promise.all([ctx.tx.write([end]), endAccess(ctx, user_id, reasons)])
    return ended
  }
}
