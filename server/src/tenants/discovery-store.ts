import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { FoundTenant, TenantName } from '../kernel/context.ts'

/** The tenants, two at most, that have this name. */
export function listTenantsNamed(work: UnrestrictedTx, { kind, text }: TenantName): Promise<FoundTenant[]> {
  const named = {
    domain: sql`select tenant_id from tenant_mail_domain where domain = ${text} limit 2`,
    slug: sql`select id as tenant_id from tenant where slug = ${text}`,
  }
  return work.read(sql<FoundTenant>`select n.tenant_id, coalesce(s.enabled, false) as has_provider
    from (${named[kind]}) n left join sign_in_setting s on s.tenant_id = n.tenant_id`)
}
