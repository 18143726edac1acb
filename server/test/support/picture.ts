import type { House } from './house.ts'

/** A checksum of a tenant's rows for each table name: equal before and after if no row changed. */
export type Picture = Readonly<Record<string, string>>

/** Takes pictures of these tables in one round trip. They ignore when a key was last used. */
export function picturesOf({ asSuperuser }: House, tables: readonly string[]): (tenant_id: string) => Promise<Picture> {
  const sums = tables.map(
    (table) => `select '${table}' as name, md5(string_agg(line, ',' order by line)) as sum
      from (select (to_jsonb(t) - 'last_used_at')::text as line from ${table} t where tenant_id = $1) lines`,
  )
  return async (tenant_id) => {
    const rows = await asSuperuser<{ name: string; sum: string }>(sums.join(' union all '), [tenant_id])
    return Object.fromEntries(rows.map(({ name, sum }) => [name, sum]))
  }
}

/** Takes pictures of every table that has tenants' rows, except `except`. */
export async function picturesOfAll(
  house: House,
  ...except: readonly string[]
): Promise<(tenant_id: string) => Promise<Picture>> {
  const tables = await house.asSuperuser<{ name: string }>(
    `select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id' and table_name <> all($1) order by 1`,
    [except],
  )
  return picturesOf(
    house,
    tables.map(({ name }) => name),
  )
}
