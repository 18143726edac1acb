import { sql } from '../db/sql.ts'
import { emitWithFacts } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'

/** The maximum number of accounts that an event names. */
const maxIdsShown = 100

/** Of the locks of this kind, one for each tenant. */
const discovering = 74

/**
 * Until the transaction ends: entries written by hand wait for a discovery, and a discovery for them. Otherwise neither would see the
 * other's, and the account would have two, of which policy could read the discovered one.
 */
export function lockDiscovery({ tenant_id }: Tx, by: 'discovery' | 'hand'): Statement {
  const lock = by === 'discovery' ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`
  return sql`select ${lock}(${discovering}::integer, hashtext(${tenant_id}))`
}

/**
 * Brings the entries that the inventory of a provisioner found in line with what it found now, and emits one event if that changes
 * something, in one atomic statement. INVARIANT: an entry of the tenant's own, or of another inventory, is never changed, and no entry is
 * made of an account that has one: it follows `lockDiscovery` in its transaction. `found`: rows with `id`, the account number, `name` and
 * `metadata`. `isHeld`: whether the run may write, by the common table expression `held`.
 */
export function discoveredAccounts(
  ctx: WorkCtx,
  provisioner_id: Statement,
  found: Statement,
  { held, isHeld }: { held: Statement; isHeld: Statement },
): Statement {
  const { tenant_id } = ctx.tx
  const event = { type: 'cloud_accounts.discovered', subject_type: 'tenant', subject_id: tenant_id } as const
  return sql`with ${held},
    found as materialized (${found}),
    known as materialized (
      select id, account_id, name, metadata from cloud_account
      where tenant_id = ${tenant_id}::uuid and discovered_by = ${provisioner_id} order by id for update),
    others as materialized (
      select account_id from cloud_account
      where tenant_id = ${tenant_id}::uuid and discovered_by is distinct from ${provisioner_id}),
    wanted as materialized (
      select id, name, metadata from found where ${isHeld}
        and not exists (select from others where others.account_id = found.id)),
    removed as (
      delete from cloud_account gone using known
      where gone.tenant_id = ${tenant_id}::uuid and gone.id = known.id and gone.discovered_by = ${provisioner_id}
        and ${isHeld} and not exists (select from wanted where wanted.id = known.id)
      returning gone.id, 'removed' as how),
    written as (
      insert into cloud_account (tenant_id, id, name, account_id, metadata, rank, discovered_by)
      select ${tenant_id}::uuid, id, name, id, metadata, 0, ${provisioner_id} from wanted
      where not exists (select from known where known.id = wanted.id and known.name = wanted.name
        and known.account_id = wanted.id and known.metadata = wanted.metadata)
      order by id
      on conflict (tenant_id, id) do update set name = excluded.name, account_id = excluded.account_id,
        metadata = excluded.metadata, updated_at = clock_timestamp()
        where cloud_account.discovered_by = excluded.discovered_by
      returning id),
    changes as (
      select id, how from removed
      union all
      select id, case when exists (select from known where known.id = written.id) then 'changed' else 'added' end
      from written),
    told as (
      select jsonb_build_object('provisioner_id', ${provisioner_id}, 'added', count(*) filter (where how = 'added'),
          'changed', count(*) filter (where how = 'changed'), 'removed', count(*) filter (where how = 'removed'),
          'ids', to_jsonb((array_agg(id order by id))[1:${maxIdsShown}::integer])) as facts
      from changes having count(*) > 0)
    ${emitWithFacts(ctx, event, sql`told`)}`
}
