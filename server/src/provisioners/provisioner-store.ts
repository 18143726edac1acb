import { type CappedFilters, readCappedPage } from '../db/capped-list.ts'
import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { KeptConfig } from '../secrets/sealed-config.ts'
import type { Mode } from '../tenants/mode.ts'
import { readMode, tenantMode } from '../tenants/mode-store.ts'
import { claimAsJson } from './claim-store.ts'
import type { Check, Config } from './driver.ts'
import {
  noSandboxInLive,
  type Provisioner,
  type ProvisionerTestResult,
  type ProvisionerType,
  warningsOf,
} from './provisioner.ts'
import { type ServedLine, servesOf } from './serving.ts'
import { servedLinesAsJson } from './serving-store.ts'

/** A provisioner with its sealed secrets; never sent in a reply. */
export type ProvisionerToOpen = KeptConfig & {
  provisioner_type: ProvisionerType
  version: number
  /** Milliseconds for which the previous secrets stay valid; null or less than 0: they are not valid. */
  previous_ms: number | null
}

export async function findProvisionerToOpen(tx: Tx, id: string): Promise<ProvisionerToOpen | undefined> {
  const [found] = await tx.read(
    sql<ProvisionerToOpen>`select provisioner_type, config, sealed_secrets, version,
        (extract(epoch from previous_until - clock_timestamp()) * 1000)::float8 as previous_ms
      from provisioner where tenant_id = ${tx.tenant_id} and id = ${id}`,
  )
  return found
}

/** A row of the table; `asProvisioner` makes the reply from it. */
type Row = Omit<Provisioner, 'serves' | 'health' | 'claim'> & {
  claim: Provisioner['claim'] | null
  served: ServedLine[]
  checked_at: string | null
  checks: Check[] | null
}

const record = sql`r.id, r.name, r.provisioner_type,
  (select t.mode from tenant t where t.id = r.tenant_id) as mode, r.config, r.enabled, r.corrects_drift, r.version,
  r.checked_at, r.checks, r.created_at, r.updated_at,
  case when r.previous_until > clock_timestamp() then r.previous_until end as previous_secrets_until,
  ${servedLinesAsJson(sql`r`)} as served, ${claimAsJson(sql`r`)} as claim`

function asProvisioner({ served, checked_at, checks, claim, ...rest }: Row): Provisioner {
  const health = checked_at === null || checks === null ? null : healthOf(checked_at, checks)
  const serves = servesOf(served)
  return { ...rest, serves, health, ...(claim && { claim }), ...warningsOf({ ...rest, serves }) }
}

function healthOf(checked_at: string, checks: Check[]): NonNullable<Provisioner['health']> {
  return { checked_at, ok: checks.every((check) => check.ok), checks }
}

export async function listProvisionersPage(
  tx: Tx,
  filters: CappedFilters,
  page: PageRequest,
): Promise<PageRows<Provisioner>> {
  const { rows, next } = await readCappedPage<Row>(tx, { table: sql`provisioner r`, columns: record }, filters, page)
  return { rows: rows.map(asProvisioner), next }
}

export async function findProvisioner(tx: Tx, id: string): Promise<Provisioner | undefined> {
  const [found] = await tx.read(
    sql<Row>`select ${record} from provisioner r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`,
  )
  return found && asProvisioner(found)
}

/** A provisioner with its sealed secrets; never sent in a reply. */
export type KeptProvisioner = { shown: Provisioner; sealed_secrets: string | null }

export async function findKeptProvisioner(tx: Tx, id: string): Promise<KeptProvisioner | undefined> {
  const [found] = await tx.read(sql<Row & { sealed_secrets: string | null }>`select ${record}, r.sealed_secrets
    from provisioner r where r.tenant_id = ${tx.tenant_id} and r.id = ${id}`)
  if (found === undefined) return undefined
  const { sealed_secrets, ...row } = found
  return { shown: asProvisioner(row), sealed_secrets }
}

/**
 * Locks a provisioner until the transaction ends, within `interactive`; returns its version. Concurrent changes wait. `links`:
 * transactions that link a grant to it wait too, or have committed before, so that the next query sees them. Without `links`,
 * they do not wait, and this lock does not wait for a gap between them.
 */
export async function lockProvisioner(tx: Tx, id: string, { links }: { links: boolean }): Promise<number | undefined> {
  const [found] = await tx.read(
    sql<{ version: number }>`select version from provisioner
      where tenant_id = ${tx.tenant_id} and id = ${id} for ${links ? sql`update` : sql`no key update`}`,
  )
  return found?.version
}

type ProvisionerToInsert = KeptConfig &
  Pick<Provisioner, 'id' | 'name' | 'provisioner_type' | 'serves' | 'enabled' | 'corrects_drift'>

/** Provisioners of a tenant, at most: its lists of them test each. Each server of databases needs one. Concurrent inserts may exceed it. */
const maxProvisioners = 500

/**
 * Inserts a new provisioner and emits an event, which contains nothing of its config.
 * @throws Problem 422 for a tenant that has `maxProvisioners`
 */
export async function insertProvisioner(ctx: WorkCtx, provisioner: ProvisionerToInsert): Promise<void> {
  const { id, name, provisioner_type, config, sealed_secrets, serves, enabled, corrects_drift } = provisioner
  const event = eventOf('created', id, { provisioner_type, serves, enabled, corrects_drift })
  const [[made]] = await ctx.tx.write([
    sql<{ id: string }>`with made as (
        insert into provisioner
          (tenant_id, id, name, provisioner_type, config, sealed_secrets, enabled, corrects_drift)
        select ${ctx.tx.tenant_id}::uuid, ${id}::uuid, ${name}, ${provisioner_type}, ${JSON.stringify(config)}::jsonb,
          ${sealed_secrets}, ${enabled}::boolean, ${corrects_drift}::boolean
        where (select count(*) from provisioner where tenant_id = ${ctx.tx.tenant_id}) < ${maxProvisioners}
        returning id),
      emitted as (${emit(ctx, event, sql`made`)})
      select id from made`,
  ])
  if (made === undefined) {
    const message = `a tenant has at most ${maxProvisioners} provisioners: delete one first, or have one serve more accounts`
    throw new Problem('unprocessable', message)
  }
}

/**
 * Saves the new content of a locked provisioner, and emits an event with the changed `fields`. `kept`: its new config, if
 * changed; then the provisioner counts as untested.
 */
export async function saveProvisioner(
  ctx: WorkCtx,
  {
    id,
    name,
    serves,
    enabled,
    corrects_drift,
  }: Pick<Provisioner, 'id' | 'name' | 'serves' | 'enabled' | 'corrects_drift'>,
  kept: KeptConfig | undefined,
  fields: readonly string[],
): Promise<void> {
  const facts = { fields, enabled, corrects_drift, ...(fields.includes('serves') && { serves }) }
  const config = sql`, config = ${JSON.stringify(kept?.config)}, sealed_secrets = ${kept?.sealed_secrets},
    checked_at = null, checks = null`
  await ctx.tx.write([
    sql`update provisioner set name = ${name}, enabled = ${enabled}, corrects_drift = ${corrects_drift},
        version = version + 1, updated_at = clock_timestamp()${kept === undefined ? sql`` : config}
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id}`,
    emit(ctx, eventOf('updated', id, facts)),
  ])
}

/** @throws Problem 422 for a sandbox that would serve something in a live tenant */
export async function requireReal(tx: Tx, provisioner_type: ProvisionerType): Promise<void> {
  if (provisioner_type === 'sandbox' && (await readMode(tx)) === 'live')
    throw new Problem('unprocessable', noSandboxInLive)
}

/** Saves the rotated secrets of a locked provisioner, and emits an event with their names. */
export async function saveRotation(
  ctx: WorkCtx,
  id: string,
  {
    sealed_secrets,
    overlap_seconds,
    names,
  }: { sealed_secrets: string | null; overlap_seconds: number; names: string[] },
): Promise<void> {
  await ctx.tx.write([
    sql`update provisioner set sealed_secrets = ${sealed_secrets}, version = version + 1,
        updated_at = clock_timestamp(), checked_at = null, checks = null,
        previous_until = clock_timestamp() + make_interval(secs => ${overlap_seconds})
      where tenant_id = ${ctx.tx.tenant_id} and id = ${id}`,
    emit(ctx, eventOf('secret_rotated', id, { names, overlap_seconds })),
  ])
}

/**
 * Returns the result of a test. Also stores it, with an event, if the provisioner still has this version. `fields`: of the config, which the
 * test found at the target. `beside`: what else follows.
 */
export async function keepTest(
  ctx: WorkCtx,
  id: string,
  version: number,
  checks: Check[],
  { fields, beside }: { fields: Config; beside: readonly Statement[] },
): Promise<ProvisionerTestResult> {
  const found = Object.keys(fields)
  const failed = checks.filter((check) => !check.ok).length
  const facts = { ok: failed === 0, failed, ...(found.length > 0 && { fields: found }) }
  const result = sql`checked_at = clock_timestamp(), checks = ${JSON.stringify(checks)}`
  const change = sql`config = config || ${JSON.stringify(fields)}::jsonb, version = version + 1,
          updated_at = clock_timestamp(), ${result}`
  const [[tested]] = await ctx.tx.write([
    sql<{ checked_at: string; mode: Mode }>`with kept as (
        update provisioner set ${found.length === 0 ? result : change}
        where tenant_id = ${ctx.tx.tenant_id} and id = ${id} and version = ${version} returning checked_at),
      emitted as (${emit(ctx, eventOf('tested', id, facts), sql`kept`)})
      select coalesce((select checked_at from kept), clock_timestamp()) as checked_at,
        ${tenantMode(ctx.tx)} as mode`,
    ...beside,
  ])
  if (tested === undefined) throw new Error('the database did not say when it is')
  return { ...healthOf(tested.checked_at, checks), mode: tested.mode }
}

/** Deletes a locked provisioner with its served resources, and emits an event. */
export async function deleteLockedProvisioner(ctx: WorkCtx, id: string): Promise<void> {
  await ctx.tx.write([
    sql`delete from provisioner where tenant_id = ${ctx.tx.tenant_id} and id = ${id}`,
    emit(ctx, eventOf('deleted', id)),
  ])
}

function eventOf(
  what: 'created' | 'updated' | 'deleted' | 'tested' | 'secret_rotated',
  id: string,
  data: Record<string, unknown> = {},
): NewEvent {
  return { type: `provisioner.${what}`, subject_type: 'provisioner', subject_id: id, data }
}
