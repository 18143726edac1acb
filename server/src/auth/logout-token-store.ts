import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import { type ProviderNames, providerNameHash, type SignInProof } from '../sessions/session.ts'
import { keptSeconds } from './logout-token.ts'

/**
 * Keeps a logout token from before it is obeyed, and deletes some of those that were kept long enough. False for one that was obeyed
 * already.
 */
export async function keepReceived(
  service: UnrestrictedTx,
  id: Buffer,
  provider: string,
  { issuer, sub, sid }: ProviderNames,
): Promise<boolean> {
  const hashOf = (name: string | undefined) => (name === undefined ? null : providerNameHash(issuer, name))
  const [kept] = await service.write([
    sql`insert into logout_token (id, expires_at, provider, provider_sub_hash, provider_sid_hash, obeyed)
      values (${id}, clock_timestamp() + make_interval(secs => ${keptSeconds}::int), ${provider}, ${hashOf(sub)},
        ${hashOf(sid)}, false)
      on conflict (id) do update set received_at = clock_timestamp() where not logout_token.obeyed
      returning id`,
    sql`delete from logout_token where id = any(array(
      select id from logout_token where expires_at <= now()
      order by expires_at limit 100 for update skip locked))`,
  ])
  return kept.length > 0
}

/** The token was obeyed to the end: it is not obeyed again. */
export async function noteObeyed(service: UnrestrictedTx, id: Buffer): Promise<void> {
  await service.write([sql`update logout_token set obeyed = true where id = ${id}`])
}

/**
 * Whether a logout token has named this person or session of a provider since that moment of the database's clock.
 *
 * INVARIANT: a sign-in asks after its session is there for everybody. A token is kept before it ends sessions, so either it ends the
 * session, or the answer here is yes.
 */
export async function wasSignedOut(
  tx: Tx,
  { provider, issuer, sub, sid }: NonNullable<SignInProof['by']>,
  since: Date,
): Promise<boolean> {
  const subHash = providerNameHash(issuer, sub)
  const sidHash = sid === undefined ? null : providerNameHash(issuer, sid)
  // The same rule by which `endProviderSessions` finds the sessions that a token names.
  const rows = await tx.read(sql`select from logout_token
    where provider = ${provider} and received_at >= ${since.toISOString()}::timestamptz
      and coalesce(provider_sub_hash = ${subHash}, true)
      and coalesce(provider_sid_hash = ${sidHash}::bytea, provider_sub_hash is not null)
    limit 1`)
  return rows.length > 0
}
