import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { membershipsLapse } from './claimed-member-store.ts'
import { conferredByEach } from './conferred-store.ts'
import {
  type ClaimedGroup,
  type GroupMapping,
  type HeldMapping,
  type MappingChange,
  mappingFact,
  type WantedMapping,
} from './group-mapping.ts'

/** The mappings `p` of the tenant for which the condition holds, each with what its group gives now, `c.scopes`. */
function mappingsWithScopes(tx: Tx, which = sql`true`): Statement {
  const here = sql`p.tenant_id = ${tx.tenant_id}::uuid and ${which}`
  return sql`group_mapping p
    join (${conferredByEach(tx, sql`select p.group_id from group_mapping p where ${here}`)}) c
      on c.group_id = p.group_id
    where ${here}`
}

/** INVARIANT: a mapping gives memberships only while its group gives no scope that nobody vouched for. */
const isInEffect = sql`(c.scopes <@ p.vouched_scopes)`

/**
 * Keeps mappings, and what their groups confer, as they are until the transaction ends: sign-ins share this row, and a change of
 * either locks it. INVARIANT: it is the last lock but those of memberships, so that nobody waits in a circle.
 */
export function mappingsLock(tx: Tx): Statement {
  return sql`select from sign_in_setting where tenant_id = ${tx.tenant_id} for no key update`
}

/** The mappings as shown, as one value to embed in another statement. */
export function mappingsAsJson(tx: Tx): Statement<GroupMapping[]> {
  return sql<GroupMapping[]>`(select coalesce(jsonb_agg(jsonb_build_object('value', p.value, 'group_id', p.group_id,
      'in_effect', ${isInEffect}) order by p.value, p.group_id), '[]')
    from ${mappingsWithScopes(tx)})`
}

/** The mappings, and the groups of the provider among theirs and `group_ids`. To change them, only under `mappingsLock`. */
export async function findMappings(
  tx: Tx,
  provider_id: string | undefined,
  group_ids: readonly string[],
): Promise<{ held: HeldMapping[]; groups: ClaimedGroup[] }> {
  const { tenant_id } = tx
  const mapped = sql`select p.group_id from group_mapping p where p.tenant_id = ${tenant_id}::uuid`
  const named = sql`select g.id as group_id from tenant_group g
    where g.tenant_id = ${tenant_id}::uuid and g.sign_in_provider_id = ${provider_id ?? null}::uuid
      and (g.id = any(${[...group_ids]}::uuid[]) or g.id in (${mapped}))`
  const [held, groups] = await tx.write([
    sql<HeldMapping>`select p.id, p.value, p.group_id, ${isInEffect} as in_effect
      from ${mappingsWithScopes(tx)} order by p.value, p.group_id`,
    sql<ClaimedGroup>`select c.group_id as id, c.scopes from (${conferredByEach(tx, named)}) c`,
  ])
  return { held, groups }
}

/** Saves the change of locked mappings. What removed ones gave counts no longer. */
export async function saveMappings(ctx: WorkCtx, { added, removed, vouched }: MappingChange): Promise<void> {
  const { tx, actor } = ctx
  const here = sql`tenant_id = ${tx.tenant_id}::uuid`
  const gone = sql`any(${removed.map(({ id }) => id)}::uuid[])`
  const those = mappingsWithScopes(tx, sql`p.id = any(${vouched.map(({ id }) => id)}::uuid[])`)
  const vouchedNow = sql`select p.id, c.scopes from ${those}`
  await tx.write([
    ...membershipsLapse(tx, sql`m.mapping_id = ${gone}`, 'mapping_removed'),
    sql`delete from group_mapping where ${here} and id = ${gone}`,
    sql`with p as (
        select * from unnest(${added.map(() => newId())}::uuid[], ${added.map(({ value }) => value)}::text[],
          ${added.map(({ group_id }) => group_id)}::uuid[]) as p (id, value, group_id))
      insert into group_mapping (tenant_id, id, value, group_id, mapped_by, vouched_scopes)
      select ${tx.tenant_id}::uuid, p.id, p.value, p.group_id, ${actor.user_id}::uuid, c.scopes
      from p join (${conferredByEach(tx, sql`select group_id from p`)}) c on c.group_id = p.group_id`,
    // A new gift: who saves a mapping that gave nothing gives what it gives from now on.
    sql`update group_mapping p set vouched_scopes = now.scopes, mapped_by = ${actor.user_id}::uuid,
        mapped_at = clock_timestamp()
      from (${vouchedNow}) now where p.tenant_id = ${tx.tenant_id}::uuid and p.id = now.id`,
  ])
}

/**
 * The values mean other people from now on, by the caller's word: no membership by a claim of the tenant counts any more, and what the
 * mappings give is the caller's gift. Only under `mappingsLock`.
 */
export async function takeOverMappings({ tx, actor }: WorkCtx): Promise<void> {
  await tx.write([
    ...membershipsLapse(tx, sql`true`, 'provider_changed'),
    sql`update group_mapping set mapped_by = ${actor.user_id}::uuid, mapped_at = clock_timestamp()
      where tenant_id = ${tx.tenant_id}::uuid`,
  ])
}

/** The groups of a change that may give them more scopes: one group, or all that give a role. */
export type Widened = { group_id: string } | { role_id: string }

/** Locks the mappings, and returns those in effect to these groups; only inside `interactive`. */
export async function lockMappingsInEffect(tx: Tx, widened: Widened): Promise<string[]> {
  const groups =
    'group_id' in widened
      ? sql`${widened.group_id}::uuid`
      : sql`select group_id from group_role where tenant_id = ${tx.tenant_id}::uuid and role_id = ${widened.role_id}`
  const [, rows] = await tx.write([
    mappingsLock(tx),
    sql<{ id: string }>`select p.id from ${mappingsWithScopes(tx, sql`p.group_id in (${groups})`)} and ${isInEffect}`,
  ])
  return rows.map(({ id }) => id)
}

/**
 * After their groups were given more scopes: a caller who may set mappings and holds all scopes of a group vouches for its mappings.
 * The others go out of effect, and what they gave counts no longer. The event names both. The setting's version shows that it changed.
 */
export async function settleMappings(ctx: WorkCtx, ids: readonly string[]): Promise<void> {
  const { tx, actor } = ctx
  const those = mappingsWithScopes(tx, sql`p.id = any(${[...ids]}::uuid[])`)
  const widened = sql`select p.id, p.value, p.group_id, c.scopes from ${those} and not ${isInEffect}`
  const [vouched, lapsed] = await tx.write([
    sql<WantedMapping>`update group_mapping p set vouched_scopes = now.scopes from (${widened}) now
      where p.tenant_id = ${tx.tenant_id}::uuid and p.id = now.id and ${actor.scopes.has('settings:write')}
        and now.scopes <@ ${[...actor.scopes]}::text[]
      returning p.value, p.group_id`,
    sql<WantedMapping & { id: string }>`select w.id, w.value, w.group_id from (${widened}) w`,
  ])
  if (vouched.length + lapsed.length === 0) return
  const group_mappings = { vouched: mappingFact(vouched), out_of_effect: mappingFact(lapsed) }
  const event = { type: 'setting.updated', subject_type: 'setting', subject_id: 'sign-in' } as const
  await tx.write([
    ...membershipsLapse(tx, sql`m.mapping_id = any(${lapsed.map(({ id }) => id)}::uuid[])`, 'mapping_out_of_effect'),
    sql`update sign_in_setting set version = version + 1, updated_at = clock_timestamp()
      where tenant_id = ${tx.tenant_id}::uuid`,
    emit(ctx, { ...event, data: { group_mappings } }),
  ])
}
