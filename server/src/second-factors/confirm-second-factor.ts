import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, IdParams } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput, notFound, type Problem } from '../kernel/errors.ts'
import { sessionsEnd } from '../sessions/session-store.ts'
import { passkeySite, readNewPasskey } from './passkey.ts'
import { makeRecoveryCodes } from './recovery-code.ts'
import { PasskeyAnswer, RecoveryCodes, SecondFactor, TotpCode } from './second-factor.ts'
import {
  type Confirmation,
  confirmFactor,
  findPendingFactor,
  listFactors,
  type PendingFactor,
} from './second-factor-store.ts'
import { isMultiFactor, requireStrongSignIn } from './strong-sign-in.ts'
import { stepOfCode } from './totp.ts'
import { openTotpSecret } from './totp-secret.ts'

const Confirmed = Type.Object(
  { factor: SecondFactor, recovery_codes: Type.Optional(RecoveryCodes) },
  { title: 'ConfirmedSecondFactor' },
)

type Sent = { totp?: string; passkey?: Record<string, unknown> }

/**
 * Confirms a second factor with its first proof. The first of a user comes with recovery codes, and ends the
 * other sessions, which had none. The next sign-in asks for it.
 */
export const confirmSecondFactor = operation({
  method: 'POST',
  path: '/v1/users/me/second-factors/{id}/confirm',
  summary: 'Confirm a second factor',
  credential: 'user',
  scope: null,
  refusesRehearsal: true,
  allowsOneFactor: true,
  keyOfSession: true,
  params: IdParams,
  body: Body({ totp: Type.Optional(TotpCode), passkey: Type.Optional(PasskeyAnswer) }),
  replies: { 200: Confirmed },
  errors: ['not_found', 'sign_in_again', 'unprocessable'],
  changes: 'authority',
  async run(ctx, { params, body }) {
    await requireMayAdd(ctx)
    const pending = await findPendingFactor(ctx.tx, ctx.actor.user_id, params.id)
    if (pending === undefined) throw notFound('second factor that waits to be confirmed')
    const codes = makeRecoveryCodes()
    const ending = [sessionsEnd(ctx.tx, String(ctx.actor.user_id), { except: ctx.session?.id ?? null })]
    const first = { codes, ending, only: !isMultiFactor(ctx) }
    const confirmed = await confirmFactor(ctx, pending, await confirmationIn(ctx, pending, body), first)
    if (confirmed === undefined) {
      await requireMayAdd(ctx)
      throw notFound('second factor that waits to be confirmed')
    }
    return { factor: confirmed.factor, ...(confirmed.first && { recovery_codes: codes }) }
  },
})

/** @throws Problem 403 `sign_in_again` */
async function requireMayAdd(ctx: Ctx): Promise<void> {
  const factors = await listFactors(ctx.tx, ctx.actor.user_id)
  requireStrongSignIn(ctx, { hasFactor: factors.length > 0 })
}

/** @throws Problem 400 for a proof that is wrong or of another kind */
async function confirmationIn(ctx: Ctx, pending: PendingFactor, sent: Sent): Promise<Confirmation> {
  const { id, kind, sealed_secrets, challenge } = pending
  const other = kind === 'totp' ? 'passkey' : 'totp'
  if (sent[other] !== undefined) throw invalidInput([{ pointer: `/${other}`, why: `does not belong to a \`${kind}\`` }])
  if (kind === 'totp' && sent.totp !== undefined && sealed_secrets !== null) {
    const step = stepOfCode(await openTotpSecret(ctx, { id, sealed_secrets }), sent.totp, ctx.now)
    if (step === undefined)
      throw wrong('/totp', 'is not the code that the app shows now: check the clock of its device')
    return { step }
  }
  const site = passkeySite(ctx.public_url)
  if (sent.passkey !== undefined && challenge !== null && site !== undefined) {
    const passkey = await readNewPasskey(site, challenge, sent.passkey)
    if (passkey === undefined) throw wrong('/passkey', 'is not the answer of a browser to this challenge at this site')
    return { passkey }
  }
  throw wrong(`/${kind}`, 'is required')
}

function wrong(pointer: string, why: string): Problem {
  return invalidInput([{ pointer, why }])
}
