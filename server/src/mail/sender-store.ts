import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { readSettingValues } from '../settings/setting.ts'
import { settingsAsJson } from '../settings/setting-store.ts'
import { mailDomainsAsArray } from '../tenants/mail-domain-store.ts'

/** The tenant's sender setting, empty when not set, and the allowed sender domains. */
export async function readSenders(tx: Tx): Promise<{ by_default: string; domains: string[] }> {
  const [row] = await tx.read(
    sql<{ stored: Record<string, string>; domains: string[] }>`
      select ${settingsAsJson(tx)} as stored, ${mailDomainsAsArray(tx)} as domains`,
  )
  return {
    by_default: readSettingValues(row?.stored ?? {})['notifications.from_address'],
    domains: row?.domains ?? [],
  }
}
