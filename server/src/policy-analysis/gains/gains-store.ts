import { countedKindsAsJson } from '../../cloud/cloud-account-store.ts'
import { sql } from '../../db/sql.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { readSettingValues, type Settings } from '../../settings/setting.ts'
import { settingsAsJson } from '../../settings/setting-store.ts'
import { requestersAsJson } from '../../users/principal-store.ts'
import { type Field, maxNames, most, type Wanted } from './gains.ts'

type Row = Field & { stored: Record<string, string> }

/** Reads it. One round trip, one snapshot; it passes over all accounts, and over all who may request. */
export async function readField(tx: Tx, wanted: Wanted): Promise<Field & { settings: Settings }> {
  const kinds = countedKindsAsJson(tx, wanted.traits, { kinds: most.kinds, named: maxNames })
  const [row] = await tx.read(sql<Row>`select ${requestersAsJson(tx, most.people)} as people, ${kinds} as accounts,
    ${describedAsJson(tx, wanted)} as described, ${settingsAsJson(tx)} as stored`)
  if (row === undefined) throw new Error('a select without a from answered no row')
  const { stored, ...field } = row
  return { ...field, settings: readSettingValues(stored) }
}

function describedAsJson(tx: Tx, { actions, any_action }: Wanted): Statement {
  if (!any_action) return sql`'{"total": 0, "actions": []}'::jsonb`
  return sql`(select jsonb_build_object('total', count(*),
      'actions', coalesce(jsonb_agg(action order by place) filter (where place <= ${most.actions}), '[]'))
    from (select action, row_number() over (order by action) as place from action_description
      where tenant_id = ${tx.tenant_id}::uuid and action <> all(${[...actions]}::text[])) others)`
}
