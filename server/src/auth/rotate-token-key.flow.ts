import type { UnrestrictedTx } from '../db/transaction.ts'
import type { RootKey } from '../secrets/root-key.ts'
import { makeSigningKey } from './signing-key.ts'
import { insertNextSigningKey } from './signing-key-store.ts'
import { leeway, tokenLifetime } from './token.ts'

/**
 * How long a new token key is published before it signs. INVARIANT: longer than any process goes on with keys that it did
 * not read anew, so that each knows the key before it meets a token of it.
 */
const leadSeconds = 60

/** Beside the life of a token: an answer that was under way when the new key took over. */
const slackSeconds = 60

/**
 * Makes a new token key, which takes over in a minute. The others retire when the last token that they signed has ended,
 * or with `endTokens` when the new one takes over: then everybody has to sign in anew.
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
