import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Tx, WorkCtx } from '../kernel/context.ts'

/** The tenant that has this slug; undefined when none has. */
export async function findTenantOfSlug(work: UnrestrictedTx, slug: string): Promise<string | undefined> {
  const [found] = await work.read(sql<{ id: string }>`select id from tenant where slug = ${slug}`)
  return found?.id
}

/**
 * Gives the tenant a slug, in place of the one it has, and emits the event; false when it has it already.
 * @throws Problem 422 when another tenant has it
 */
export async function saveSlug(ctx: WorkCtx, slug: string): Promise<boolean> {
  const { tenant_id } = ctx.tx
  const [saved] = await ctx.tx.write([
    sql`with changed as (
        update tenant set slug = ${slug}::text where id = ${tenant_id} and slug is distinct from ${slug}::text
        returning id),
      emitted as (${emit(ctx, eventOf(ctx.tx, 'tenant.slug_set', slug), sql`changed`)})
      select id from changed`,
  ])
  return saved.length > 0
}

/** Removes the tenant's slug and emits the event; false when it does not have this one. */
export async function deleteSlug(ctx: WorkCtx, slug: string): Promise<boolean> {
  const [gone] = await ctx.tx.write([
    sql`with changed as (
        update tenant set slug = null where id = ${ctx.tx.tenant_id} and slug = ${slug} returning id),
      emitted as (${emit(ctx, eventOf(ctx.tx, 'tenant.slug_removed', slug), sql`changed`)})
      select id from changed`,
  ])
  return gone.length > 0
}

function eventOf({ tenant_id }: Tx, type: 'tenant.slug_set' | 'tenant.slug_removed', slug: string) {
  return { type, subject_type: 'tenant', subject_id: tenant_id, data: { slug } } as const
}
