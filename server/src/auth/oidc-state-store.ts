import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { Tx } from '../kernel/context.ts'
import type { SignInState, TakenState } from './oidc-state.ts'

/** Stores the state for ten minutes, and deletes the tenant's expired states. */
export async function insertSignInState(tx: Tx, id: string, state: SignInState): Promise<void> {
  const { issuer, client_id, redirect_uri, nonce, code_verifier, max_age, browser_hash } = state
  await tx.write([
    sql`delete from sign_in_state where tenant_id = ${tx.tenant_id} and expires_at <= clock_timestamp()`,
    sql`insert into sign_in_state
        (tenant_id, id, issuer, client_id, redirect_uri, nonce, code_verifier, max_age, browser_hash)
      values (${tx.tenant_id}, ${id}, ${issuer}, ${client_id}, ${redirect_uri}, ${nonce}, ${code_verifier},
        ${max_age}, ${browser_hash})`,
  ])
}

/** Takes the state, once: of several concurrent calls, one gets it. */
export async function takeSignInState(tx: Tx, id: string): Promise<TakenState | undefined> {
  const [[taken]] = await tx.write([
    sql<TakenState>`
      delete from sign_in_state where tenant_id = ${tx.tenant_id} and id = ${id}
      returning issuer, client_id, redirect_uri, nonce, code_verifier, max_age, browser_hash,
        expires_at > clock_timestamp() as live, clock_timestamp() as now`,
  ])
  return taken
}

/** Reads the database's clock when no tenant is known yet. */
export async function readClock(work: UnrestrictedTx): Promise<Date> {
  const [row] = await work.read(sql<{ now: string }>`select clock_timestamp() as now`)
  if (row === undefined) throw new Error('the database returned no time')
  return new Date(row.now)
}
