import { sql } from '../db/sql.ts'
import { emit, emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { NewSession } from '../sessions/session.ts'
import { sessionCleanup, sessionInsert, sessionsEnd } from '../sessions/session-store.ts'
import { tenantMode } from '../tenants/mode-store.ts'
import { isActive } from '../users/active-store.ts'
import { saveUserDeletion } from '../users/lifecycle-store.ts'
import { rolesOf } from '../users/user-store.ts'
import { type Made, type Rehearsal, rehearsalAccounts, type Standing } from './rehearsal.ts'

/** Whether the user is an active owner, as a value to embed in another statement. */
export function isOwner({ tenant_id }: Tx, user_id: string | null): Statement {
  return sql`exists (select from tenant_user o where o.tenant_id = ${tenant_id}::uuid and o.id = ${user_id}::uuid
    and o.is_owner and ${isActive(sql`o`)})`
}

/** What an operation must know of its caller and of the tenant. */
export async function findStanding(tx: Tx, user_id: string | null): Promise<Standing & { name: string }> {
  const [found] = await tx.read(sql<Standing & { name: string }>`select ${tenantMode(tx)} as mode,
      ${isOwner(tx, user_id)} as is_owner, (select t.name from tenant t where t.id = ${tx.tenant_id}) as name`)
  if (found === undefined) throw new Error('the database returned no tenant')
  return found
}

/** What the rehearsal has made, in one round trip. */
export async function readRehearsal(tx: Tx): Promise<Rehearsal> {
  const [found] = await tx.read(sql<Rehearsal>`
    select t.mode, t.live_since,
      (select coalesce(jsonb_agg(jsonb_build_object('id', u.id, 'name', u.name, 'active', ${isActive(sql`u`)},
          'roles', ${rolesOf(tx, sql`u.id`)}) order by u.rehearsal), '[]')
        from tenant_user u where ${isMadePerson(tx)}) as people,
      (select coalesce(jsonb_agg(jsonb_build_object('id', c.account_id, 'name', c.name) order by c.rank, c.name), '[]')
        from cloud_account c where ${isMadeAccount(tx)}) as accounts,
      (select p.id from policy p where ${isMadePolicy(tx)}) as policy_id
    from tenant t where t.id = ${tx.tenant_id}`)
  if (found === undefined) throw new Error('the database returned no tenant')
  return found
}

const isMadePerson = (tx: Tx) =>
  sql`u.tenant_id = ${tx.tenant_id}::uuid and u.rehearsal is not null and u.deleted_at is null`
const isMadeAccount = (tx: Tx) => sql`c.tenant_id = ${tx.tenant_id}::uuid and c.rehearsal is not null`
const isMadePolicy = (tx: Tx) => sql`p.tenant_id = ${tx.tenant_id}::uuid and p.rehearsal is not null`

/** The marks of the parts that are there, and the addresses that are taken. */
type Parts = { people: string[]; accounts: string[]; has_policy: boolean; emails: string[] }

/**
 * Locks the tenant's row until the transaction ends, so that the tenant does not go live meanwhile and no other call makes the same
 * parts; only inside `interactive`. `keys`: addresses that the rehearsal would like to use.
 */
export async function lockForCreation(
  tx: Tx,
  user_id: string | null,
  keys: readonly string[],
): Promise<Standing & Parts> {
  const [, [found]] = await tx.write([
    sql`select from tenant where id = ${tx.tenant_id} for no key update`,
    sql<Standing & Parts>`select ${tenantMode(tx)} as mode, ${isOwner(tx, user_id)} as is_owner,
      array(select u.rehearsal from tenant_user u where ${isMadePerson(tx)}) as people,
      array(select c.rehearsal from cloud_account c where ${isMadeAccount(tx)}) as accounts,
      exists (select from policy p where ${isMadePolicy(tx)}) as has_policy,
      array(select u.email_key from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.deleted_at is null
        and u.email_key = any(${[...keys]}::text[])) as emails`,
  ])
  if (found === undefined) throw new Error('the database returned no tenant')
  return found
}

/** The first number that is tried for an account of the rehearsal, and how many are. */
const firstNumber = 990_000_000_001
const numbersTried = 10_000

/** Inserts accounts with numbers that the tenant has nowhere, and emits the event. Returns how many. */
export async function insertAccounts(ctx: WorkCtx, parts: readonly string[]): Promise<number> {
  const { tenant_id } = ctx.tx
  const rows = rehearsalAccounts
    .filter(({ part }) => parts.includes(part))
    .map((account, index) => ({ ...account, nth: index + 1 }))
  const event = { type: 'cloud_accounts.updated', subject_type: 'tenant', subject_id: tenant_id } as const
  const [[made]] = await ctx.tx.write([
    sql<{ count: number }>`with free as (
        select number.id::text as id, row_number() over (order by number.id) as nth
        from generate_series(${firstNumber}::bigint, ${firstNumber + numbersTried}::bigint) number (id)
        where not exists (select from cloud_account c where c.tenant_id = ${tenant_id}
            and (c.id = number.id::text or c.account_id = number.id::text))
          and not exists (select from served_resource s where s.tenant_id = ${tenant_id}
            and s.account_id = number.id::text)
        order by number.id limit ${rows.length}),
      made as (
        insert into cloud_account (tenant_id, id, name, account_id, metadata, rank, rehearsal)
        select ${tenant_id}::uuid, free.id, part.name, free.id,
          jsonb_build_object('env', part.part, 'rehearsal', 'true'), part.nth, part.part
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as part (part text, name text, nth integer)
          join free on free.nth = part.nth
        order by free.id
        returning id),
      facts as (
        select jsonb_build_object('upserted', count(*), 'ids', jsonb_agg(id order by id),
          'changed', jsonb_agg(id order by id), 'changed_count', count(*)) as facts from made having count(*) > 0),
      emitted as (${emitWithFacts(ctx, event, sql`facts`)})
      select count(*)::integer as count from made`,
  ])
  return made?.count ?? 0
}

export async function emitCreated(ctx: WorkCtx, { mode, live_since, ...made }: Rehearsal): Promise<void> {
  const ids = {
    user_ids: made.people.map(({ id }) => id),
    account_ids: made.accounts.map(({ id }) => id),
    policy_id: made.policy_id,
  }
  const subject = { subject_type: 'tenant', subject_id: ctx.tx.tenant_id, data: ids }
  await ctx.tx.write([emit(ctx, { type: 'tenant.rehearsal_created', ...subject })])
}

/** Whether a session began, and otherwise why not: each is read under the same locks. */
export type TokenSession = Standing & { now: string; is_there: boolean; is_active: boolean }

/**
 * Begins a session for a person of the rehearsal and emits the event, if the acting user owns the tenant and the tenant is in
 * rehearsal. INVARIANT: the person is locked before the tenant, as when a tenant goes live. That comes either before this and leaves no
 * person, or after it and ends the session.
 */
export async function beginTokenSession(
  ctx: WorkCtx & { source_ip: string },
  user_id: string,
  session: NewSession,
): Promise<TokenSession> {
  const { tx, actor } = ctx
  const person = sql`from tenant_user u where ${isMadePerson(tx)} and u.id = ${user_id}`
  const data = { sid: session.id, source_ip: ctx.source_ip, lifetime_seconds: session.lifetime_seconds }
  const event = { type: 'user.rehearsal_token_created', subject_type: 'user', subject_id: user_id, data } as const
  const [, [answer]] = await tx.write([
    // A statement of its own, so that the next one sees what the lock waited for.
    sql`select u.id ${person} for share`,
    sql<TokenSession>`with held as materialized (
        select t.mode from tenant t where t.id = ${tx.tenant_id} for share),
      standing as (
        select held.mode, ${isOwner(tx, actor.user_id)} as is_owner, exists (select ${person}) as is_there,
          exists (select ${person} and ${isActive(sql`u`)}) as is_active from held),
      whom as (
        select ${user_id}::uuid as user_id from standing where mode = 'rehearsal' and is_owner and is_active),
      begun as (${sessionInsert(tx, session, sql`whom`)}),
      emitted as (${emit(ctx, event, sql`whom`)})
      select standing.*, clock_timestamp() as now from standing`,
    ...sessionCleanup(tx, user_id),
  ])
  if (answer === undefined) throw new Error('the database returned no tenant')
  return answer
}

/**
 * Locks the people of the rehearsal, and everybody who waits for or holds access to its accounts, until the transaction ends. INVARIANT: in
 * the order of their ids, and before requests, as everywhere. Only inside `interactive`.
 */
export async function lockMade(tx: Tx): Promise<Made> {
  const accounts = sql`array(select c.account_id from cloud_account c where ${isMadeAccount(tx)})`
  const [, [made]] = await tx.write([
    sql`select u.id from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = any(array(
        select u.id from tenant_user u where ${isMadePerson(tx)}
        union
        select r.requester_id from access_request r where r.tenant_id = ${tx.tenant_id} and r.status = 'pending'
          and exists (select from jsonb_to_recordset(r.places) as place (account_id text)
            where place.account_id = any(${accounts}))
        union
        select g.user_id from access_grant g where g.tenant_id = ${tx.tenant_id}
          and g.status in ('pending', 'active') and g.account_id = any(${accounts})))
      order by u.id for no key update`,
    sql<Made>`select array(select u.id from tenant_user u where ${isMadePerson(tx)} order by u.id) as user_ids,
      ${accounts} as account_ids, (select p.id from policy p where ${isMadePolicy(tx)}) as policy_id`,
  ])
  return made ?? { user_ids: [], account_ids: [], policy_id: null }
}

/** Deletes a locked person of the rehearsal, as any user is deleted, and ends their sessions. */
export async function deletePerson(ctx: WorkCtx, id: string): Promise<void> {
  await saveUserDeletion(ctx, { id })
  await ctx.tx.write([sessionsEnd(ctx.tx, id)])
}

/** Deletes the accounts of the rehearsal and emits the event. One that became the tenant's own meanwhile stays. */
export async function deleteAccounts(ctx: WorkCtx): Promise<void> {
  const { tx } = ctx
  const event = { type: 'cloud_accounts.updated', subject_type: 'tenant', subject_id: tx.tenant_id } as const
  await tx.write([
    sql`with removed as (
        delete from cloud_account c where ${isMadeAccount(tx)} and c.id = any(array(
          select c.id from cloud_account c where ${isMadeAccount(tx)} order by c.id for update))
        returning c.id),
      facts as (
        select jsonb_build_object('upserted', 0, 'removed', count(*), 'ids', jsonb_agg(id order by id),
          'changed', jsonb_agg(id order by id), 'changed_count', count(*)) as facts from removed having count(*) > 0)
      ${emitWithFacts(ctx, event, sql`facts`)}`,
  ])
}
