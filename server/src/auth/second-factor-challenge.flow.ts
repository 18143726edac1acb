import { sourceOf } from '../http/source.ts'
import type { Ctx } from '../kernel/context.ts'
import { multiFactor } from '../kernel/fresh-sign-in.ts'
import { newId } from '../kernel/id.ts'
import { askForSignature, checkSignature, passkeySite } from '../second-factors/passkey.ts'
import type { FactorProof } from '../second-factors/proof-store.ts'
import { recoveryCodeHash } from '../second-factors/recovery-code.ts'
import { type ConfirmedFactor, isPasskey, listFactors } from '../second-factors/second-factor-store.ts'
import { stepOfCode } from '../second-factors/totp.ts'
import { openTotpSecret } from '../second-factors/totp-secret.ts'
import { challengeSeconds, type NewChallenge, type TriedChallenge } from '../sessions/challenge-store.ts'
import { makeSessionSecret } from '../sessions/session-secret.ts'

/** A challenge to store, and what the caller needs to go on. */
export async function makeChallenge(
  { tx, public_url, source_ip }: Ctx,
  user_id: string,
): Promise<{ challenge: NewChallenge; details: Record<string, unknown> }> {
  const id = newId()
  const factors = await listFactors(tx, user_id)
  const passkeys = factors.filter(isPasskey)
  const site = passkeySite(public_url)
  const passkey = site !== undefined && passkeys.length > 0 ? await askForSignature(site, passkeys) : undefined
  const { text, cookie_hash: secret_hash } = makeSessionSecret(tx.tenant_id, id)
  const methods = [
    ...(passkey === undefined ? [] : ['passkey']),
    ...(factors.some(({ kind }) => kind === 'totp') ? ['totp'] : []),
    'recovery_code',
  ]
  return {
    challenge: { id, secret_hash, source: sourceOf(source_ip), passkey_challenge: passkey?.challenge ?? null },
    details: { challenge: text, expires_in: challengeSeconds, methods, ...(passkey !== undefined && { passkey }) },
  }
}

/** What a caller sends to prove the second factor: exactly one of the three. */
export type SentProof = { totp?: string; passkey?: Record<string, unknown>; recovery_code?: string }

/** The proof that was sent, if it is right; undefined if it is not. Whether it was used before is for the database to say. */
export async function checkProof(
  ctx: Ctx,
  { user_id, passkey_challenge, now }: TriedChallenge,
  sent: SentProof,
): Promise<FactorProof | undefined> {
  if (sent.recovery_code !== undefined) return { method: 'recovery_code', hash: recoveryCodeHash(sent.recovery_code) }
  const factors = await listFactors(ctx.tx, user_id)
  if (sent.totp !== undefined) return checkTotp(ctx, factors, sent.totp, new Date(now))
  const site = passkeySite(ctx.public_url)
  if (sent.passkey === undefined || passkey_challenge === null || site === undefined) return undefined
  const { id } = sent.passkey
  const factor = factors.filter(isPasskey).find(({ credential_id }) => credential_id === id)
  if (factor === undefined) return undefined
  const sign_count = await checkSignature(site, passkey_challenge, factor, sent.passkey)
  return sign_count === undefined
    ? undefined
    : { method: 'passkey', factor_id: factor.id, sign_count, synced: factor.synced }
}

async function checkTotp(
  ctx: Ctx,
  factors: readonly ConfirmedFactor[],
  code: string,
  now: Date,
): Promise<FactorProof | undefined> {
  for (const factor of factors) {
    if (factor.kind !== 'totp') continue
    const step = stepOfCode(await openTotpSecret(ctx, factor), code, now)
    if (step !== undefined) return { method: 'totp', factor_id: factor.id, step }
  }
  return undefined
}

/** The means of a sign-in with a password and this proof, as RFC 8176 names them. */
export function meansOf(proof: FactorProof): string[] {
  const second = { totp: 'otp', recovery_code: 'otp', passkey: 'hwk' }[proof.method]
  return ['pwd', proof.method === 'passkey' && proof.synced ? 'swk' : second, multiFactor]
}
