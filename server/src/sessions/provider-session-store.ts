import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import type { Statement, WorkCtx } from '../kernel/context.ts'
import { type ProviderNames, providerNameHash } from './session.ts'

/** A session of which the provider gave no `sid` at sign-in may be any session of its person. */
function named(provider: string, { issuer, sub, sid }: ProviderNames): Statement {
  const subHash = sub === undefined ? null : providerNameHash(issuer, sub)
  const sidHash = sid === undefined ? null : providerNameHash(issuer, sid)
  if (subHash === null) return sql`provider = ${provider} and provider_sid_hash = ${sidHash}`
  const ofPerson = sql`provider = ${provider} and provider_sub_hash = ${subHash}`
  return sidHash === null ? ofPerson : sql`${ofPerson} and coalesce(provider_sid_hash = ${sidHash}, true)`
}

/** The tenants in which the operator's provider has sessions of this name. */
export async function listTenantsOfSessions(
  work: UnrestrictedTx,
  provider: string,
  names: ProviderNames,
): Promise<string[]> {
  const rows = await work.read(sql<{ tenant_id: string }>`
    select distinct tenant_id from user_session where ${named(provider, names)} limit 1000`)
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Ends the tenant's live sessions of this name, and emits one event for each user. Returns the number of sessions. */
export function endProviderSessions(ctx: WorkCtx, provider: string, names: ProviderNames): Promise<number> {
  return ctx.tx.interactive(async (tx) => {
    const [ended] = await tx.write([
      sql<{ user_id: string }>`delete from user_session where tenant_id = ${tx.tenant_id} and ${named(provider, names)}
          and live_until > clock_timestamp()
        returning user_id`,
    ])
    const users = new Set(ended.map(({ user_id }) => user_id))
    const data = { cause: 'provider', provider }
    const events = [...users].map(
      (subject_id) => ({ type: 'auth.signed_out', subject_type: 'user', subject_id, data }) as const,
    )
    if (events.length > 0) await tx.write([emit({ ...ctx, tx }, events)])
    return ended.length
  })
}

/** Sessions that are ended by one statement. Each has a trigger, and a statement must end in five seconds. */
const batchSize = 10_000

/**
 * Ends all of the tenant's sessions by a provider but one, and emits one event if there were any. INVARIANT: inside a transaction that
 * holds a lock for which sign-ins by the provider wait.
 */
export async function endSessionsBy(ctx: WorkCtx, provider: string, except: string | null): Promise<void> {
  const { tx } = ctx
  const { tenant_id } = tx
  let anyLive = false
  for (;;) {
    const [ended] = await tx.write([
      sql<{ live: boolean }>`delete from user_session where tenant_id = ${tenant_id} and id = any(array(
          select id from user_session where tenant_id = ${tenant_id} and provider = ${provider}
            and id is distinct from ${except}::uuid
          order by id limit ${batchSize} for update))
        returning live_until > clock_timestamp() as live`,
    ])
    anyLive ||= ended.some(({ live }) => live)
    if (ended.length < batchSize) break
  }
  if (!anyLive) return
  const data = { cause: 'provider_changed', provider }
  await tx.write([emit(ctx, { type: 'auth.signed_out', subject_type: 'tenant', subject_id: tenant_id, data })])
}
