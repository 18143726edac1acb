import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { bumpRuleSet } from '../policy-engine/deciding/rule-set-change-store.ts'
import { isOfRules, readSettingValues, type Setting, type SettingKey, type Settings, settingTable } from './setting.ts'

export type StoredSetting = Required<Setting>

/** All settings that the tenant has set, as one value to embed in another statement; `readSettingValues` reads it. */
export function settingsAsJson(tx: Tx): Statement {
  return sql`(select coalesce(jsonb_object_agg(key, value), '{}') from setting where tenant_id = ${tx.tenant_id}::uuid)`
}

/** The settings whose value is a number of seconds. */
export type SecondsKey = Extract<SettingKey, `${string}_seconds`>

/** The effective seconds, as an integer to embed in another statement: the tenant's value, else the default. */
export function settingSeconds(tx: Tx, key: SecondsKey): Statement {
  return sql`coalesce(
    (select value::integer from setting where tenant_id = ${tx.tenant_id}::uuid and key = ${key}::text),
    ${settingTable[key].default}::integer)`
}

/** The settings whose value is yes or no. */
type YesNoKey = { [Key in SettingKey]: Settings[Key] extends boolean ? Key : never }[SettingKey]

/** Whether a setting is on, as a value to embed in another statement: the tenant's value, else the default. */
export function settingIs(tx: Tx, key: YesNoKey): Statement {
  return sql`coalesce((select value from setting where tenant_id = ${tx.tenant_id}::uuid and key = ${key}::text),
    ${settingTable[key].default}::text) = 'true'`
}

/** The effective settings, read with a statement of their own. A caller with another statement embeds `settingsAsJson` in it. */
export async function readSettings(tx: Tx): Promise<Settings> {
  const [row] = await tx.read(sql<{ stored: Record<string, string> }>`select ${settingsAsJson(tx)} as stored`)
  return readSettingValues(row?.stored ?? {})
}

/** The settings that the tenant has set, in no order. */
export function listStoredSettings(tx: Tx): Promise<StoredSetting[]> {
  return tx.read(sql<StoredSetting>`select key, value, updated_at from setting where tenant_id = ${tx.tenant_id}`)
}

export async function findSetting(tx: Tx, key: SettingKey): Promise<StoredSetting | undefined> {
  const [found] = await tx.read(
    sql<StoredSetting>`select key, value, updated_at from setting where tenant_id = ${tx.tenant_id} and key = ${key}`,
  )
  return found
}

/**
 * Sets the value and emits an event with the old and the new one. Guarded by the previous value (null: none): undefined when
 * another request changed it meanwhile.
 */
export async function saveSetting(
  ctx: WorkCtx,
  key: SettingKey,
  change: { old: string | null; new: string },
): Promise<StoredSetting | undefined> {
  const { tenant_id } = ctx.tx
  const event = { type: 'setting.updated', subject_type: 'setting', subject_id: key, data: change } as const
  const [[saved]] = await ctx.tx.write([
    sql<StoredSetting>`with changed as (
        insert into setting (tenant_id, key, value) values (${tenant_id}, ${key}, ${change.new})
        on conflict (tenant_id, key) do update set value = excluded.value, updated_at = clock_timestamp()
          where setting.value = ${change.old}::text
        returning key, value, updated_at),
      bumped as (${isOfRules(key) ? bumpRuleSet(ctx.tx, sql`changed`) : sql`select 1`}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select key, value, updated_at from changed`,
  ])
  return saved
}
