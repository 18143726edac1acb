import type { UnrestrictedTx } from '../db/transaction.ts'
import type { RootKey } from '../secrets/root-key.ts'
import { makeSigningKey } from './signing-key.ts'
import { insertNextSigningKey } from './signing-key-store.ts'
import { leeway, tokenLifetime } from './token.ts'

/**
 * How long a new token key is published before it signs. INVARIANT: longer than a process uses keys without reading them
 * again, so that each process knows the key before it meets one of its tokens.
 */
const leadSeconds = 60

/** Added to the lifetime of a token: covers an answer that was in flight when the new key took over. */
const slackSeconds = 60

/**
 * Makes a new token key, which takes over in a minute. The others retire when the last token that they signed has expired,
 * or with `endTokens` when the new key takes over: then every token of before is invalid.
 */
export async function rotateTokenKey(
  service: UnrestrictedTx,
  root: RootKey,
  { endTokens }: { endTokens: boolean },
): Promise<{ kid: string; signs_from: string; others_retire_at: string }> {
  const key = await makeSigningKey(root)
  const outliveSeconds = endTokens ? 0 : tokenLifetime + leeway + slackSeconds
  return { kid: key.kid, ...(await insertNextSigningKey(service, key, { leadSeconds, outliveSeconds })) }
}
