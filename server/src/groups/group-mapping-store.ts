import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { membershipsLapse } from './claimed-member-store.ts'
import { conferred } from './conferred-store.ts'
import {
  type ClaimedGroup,
  type GroupMapping,
  type HeldMapping,
  type MappingChange,
  mappingFact,
  type WantedMapping,
} from './group-mapping.ts'

/** What the group of a mapping gives its members now. */
function conferredNow(tx: Tx): Statement {
  return sql`array(${conferred(tx, sql`p.group_id`)})`
}

/** INVARIANT: a mapping gives memberships only while its group gives no scope that nobody vouched for. `p` is its row. */
function isInEffect(tx: Tx): Statement {
  return sql`(${conferredNow(tx)} <@ p.vouched_scopes)`
}

/**
 * Keeps mappings, and what their groups confer, as they are until the transaction ends: sign-ins share this row, and whoever changes
 * either locks it. INVARIANT: it is the last lock but those of memberships, so that nobody waits in a circle.
 */
export function mappingsLock(tx: Tx): Statement {
  return sql`select from sign_in_setting where tenant_id = ${tx.tenant_id} for no key update`
}

/** The mappings as shown, as one value to embed in another statement. */
export function mappingsAsJson(tx: Tx): Statement<GroupMapping[]> {
  return sql<GroupMapping[]>`(select coalesce(jsonb_agg(jsonb_build_object('value', p.value, 'group_id', p.group_id,
      'in_effect', ${isInEffect(tx)}) order by p.value, p.group_id), '[]')
    from group_mapping p where p.tenant_id = ${tx.tenant_id}::uuid)`
}

/** Locks the mappings and returns them, and the groups of the provider among theirs and `group_ids`; only inside `interactive`. */
export async function lockMappings(
  tx: Tx,
  provider_id: string | undefined,
  group_ids: readonly string[],
): Promise<{ held: HeldMapping[]; groups: ClaimedGroup[] }> {
  const { tenant_id } = tx
  const mapped = sql`select p.group_id from group_mapping p where p.tenant_id = ${tenant_id}::uuid`
  // The lock first, so that the others see the writes of its previous holder.
  const [, held, groups] = await tx.write([
    mappingsLock(tx),
    sql<HeldMapping>`select p.id, p.value, p.group_id, ${isInEffect(tx)} as in_effect
      from group_mapping p where p.tenant_id = ${tenant_id}::uuid order by p.value, p.group_id`,
    sql<ClaimedGroup>`select p.group_id as id, ${conferredNow(tx)} as scopes
      from (select g.id as group_id from tenant_group g where g.tenant_id = ${tenant_id}::uuid
        and g.sign_in_provider_id = ${provider_id ?? null}::uuid
        and (g.id = any(${[...group_ids]}::uuid[]) or g.id in (${mapped}))) p`,
  ])
  return { held, groups }
}

/** Saves the change of locked mappings. What removed ones gave counts no longer. */
export async function saveMappings(ctx: WorkCtx, { added, removed, vouched }: MappingChange): Promise<void> {
  const { tx, actor } = ctx
  const here = sql`tenant_id = ${tx.tenant_id}::uuid`
  const gone = sql`any(${removed.map(({ id }) => id)}::uuid[])`
  await tx.write([
    ...membershipsLapse(tx, sql`m.mapping_id = ${gone}`, 'mapping_removed'),
    sql`delete from group_mapping where ${here} and id = ${gone}`,
    sql`insert into group_mapping (tenant_id, id, value, group_id, mapped_by, vouched_scopes)
      select ${tx.tenant_id}::uuid, p.id, p.value, p.group_id, ${actor.user_id}::uuid, ${conferredNow(tx)}
      from unnest(${added.map(() => newId())}::uuid[], ${added.map(({ value }) => value)}::text[],
        ${added.map(({ group_id }) => group_id)}::uuid[]) as p (id, value, group_id)`,
    sql`update group_mapping p set vouched_scopes = ${conferredNow(tx)}
      where p.tenant_id = ${tx.tenant_id}::uuid and p.id = any(${vouched.map(({ id }) => id)}::uuid[])`,
  ])
}

/** No membership by a claim of the tenant counts any more: nobody vouches for them. Only under `mappingsLock`. */
export async function lapseAllClaimed(tx: Tx): Promise<void> {
  await tx.write(membershipsLapse(tx, sql`true`, 'provider_changed'))
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
    sql<{ id: string }>`select p.id from group_mapping p
      where p.tenant_id = ${tx.tenant_id}::uuid and p.group_id in (${groups}) and ${isInEffect(tx)}`,
  ])
  return rows.map(({ id }) => id)
}

/**
 * After their groups were given more scopes: a caller who may set mappings and holds all scopes of a group vouches for its mappings.
 * The others go out of effect, and what they gave counts no longer. The event names both. The setting's version shows that it changed.
 */
export async function settleMappings(ctx: WorkCtx, ids: readonly string[]): Promise<void> {
  const { tx, actor } = ctx
  const which = sql`p.tenant_id = ${tx.tenant_id}::uuid and p.id = any(${[...ids]}::uuid[]) and not ${isInEffect(tx)}`
  const [vouched, lapsed] = await tx.write([
    sql<WantedMapping>`update group_mapping p set vouched_scopes = ${conferredNow(tx)}
      where ${which} and ${actor.scopes.has('settings:write')} and ${conferredNow(tx)} <@ ${[...actor.scopes]}::text[]
      returning p.value, p.group_id`,
    sql<WantedMapping & { id: string }>`select p.id, p.value, p.group_id from group_mapping p where ${which}`,
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
