import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'

/** The maximum number of domains of a tenant. */
export const maxMailDomains = 100

/** A mail domain of a tenant, and since when. */
export type MailDomain = { domain: string; created_at: string }

/** The mail domains of the tenant, as an array to embed in another statement. */
export function mailDomainsAsArray(tx: Tx): Statement {
  return sql`array(select domain from tenant_mail_domain where tenant_id = ${tx.tenant_id}::uuid order by domain)`
}

/** All mail domains of the tenant, by name. */
export function listTenantMailDomains(tx: Tx): Promise<MailDomain[]> {
  return tx.read(sql<MailDomain>`select domain, created_at from tenant_mail_domain
    where tenant_id = ${tx.tenant_id} order by domain`)
}

/** Inserts a domain and emits the event; false when it exists already, or the tenant has the maximum number. */
export async function insertMailDomain(ctx: WorkCtx, domain: string): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const [made] = await ctx.tx.write([
    sql`with changed as (
        insert into tenant_mail_domain (tenant_id, domain)
        select ${tenant_id}::uuid, ${domain}
        where (select count(*) from tenant_mail_domain where tenant_id = ${tenant_id}) < ${maxMailDomains}
        on conflict on constraint tenant_mail_domain_pk do nothing
        returning domain),
      emitted as (${emit(ctx, eventOf(ctx.tx, 'tenant.mail_domain_added', domain), sql`changed`)})
      select domain from changed`,
  ])
  return made.length > 0
}

/** Deletes a domain and emits the event; false when the tenant does not have it. */
export async function deleteMailDomain(ctx: WorkCtx, domain: string): Promise<boolean> {
  const [gone] = await ctx.tx.write([
    sql`with changed as (
        delete from tenant_mail_domain where tenant_id = ${ctx.tx.tenant_id} and domain = ${domain} returning domain),
      emitted as (${emit(ctx, eventOf(ctx.tx, 'tenant.mail_domain_removed', domain), sql`changed`)})
      select domain from changed`,
  ])
  return gone.length > 0
}

function eventOf({ tenant_id }: Tx, type: 'tenant.mail_domain_added' | 'tenant.mail_domain_removed', domain: string) {
  return { type, subject_type: 'tenant', subject_id: tenant_id, data: { domain } } as const
}

/** The tenants, two at most, that have this domain. */
export async function listTenantsOfMailDomain(work: UnrestrictedTx, domain: string): Promise<string[]> {
  const rows = await work.read(
    sql<{ tenant_id: string }>`select tenant_id from tenant_mail_domain where domain = ${domain} limit 2`,
  )
  return rows.map((row) => row.tenant_id)
}

/** How many tenants there are, and how many of them have no mail domain. */
export async function countTenantsByMailDomain(work: UnrestrictedTx): Promise<{ tenants: number; without: number }> {
  const [counted] = await work.read(sql<{ tenants: number; without: number }>`
    select count(*)::integer as tenants, (count(*) filter (where not exists (
        select from tenant_mail_domain d where d.tenant_id = t.id)))::integer as without
    from tenant t`)
  return counted ?? { tenants: 0, without: 0 }
}
