import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { AnyObject, OneOf } from '../http/schema.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { type FactorOwner, findFactorOwner } from './factor-owner-store.ts'
import { askForPasskey, passkeySite } from './passkey.ts'
import { factorKinds, maxFactors, NewSecondFactor, noPasskeysHere, setUpSeconds, usualNames } from './second-factor.ts'
import { type ConfirmedFactor, insertFactor, isPasskey, listFactors } from './second-factor-store.ts'
import { requireStrongSignIn } from './strong-sign-in.ts'
import { makeTotpSecret, totpUri } from './totp.ts'
import { sealTotpSecret } from './totp-secret.ts'

const BegunFactor = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: OneOf(factorKinds),
    expires_at: Type.String({ format: 'date-time', description: 'confirm it by then' }),
    totp: Type.Optional(
      Type.Object({
        secret: Type.String({ description: 'to type into the app; it is shown only here' }),
        uri: Type.String({ description: 'the same for a QR code' }),
      }),
    ),
    passkey: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...AnyObject,
        description: 'for `PublicKeyCredential.parseCreationOptionsFromJSON()`',
      }),
    ),
  },
  { title: 'BegunSecondFactor' },
)

/** Begins to set up a second factor. It counts when it is confirmed. */
export const beginSecondFactor = operation({
  method: 'POST',
  path: '/v1/users/me/second-factors',
  summary: 'Begin to set up a second factor',
  credential: 'user',
  scope: null,
  refusesRehearsal: true,
  allowsOneFactor: true,
  keyOfSession: true,
  body: NewSecondFactor,
  replies: { 201: BegunFactor },
  errors: ['forbidden', 'not_found', 'sign_in_again', 'unprocessable'],
  async run(ctx, { body: { kind, name = usualNames[kind] } }) {
    const { tx, actor } = ctx
    const owner = await findFactorOwner(tx, actor.user_id)
    if (owner === undefined) throw notFound('user')
    if (!owner.is_local) {
      throw new Problem('forbidden', 'your identity provider manages how you sign in: set up a second factor there')
    }
    const factors = await listFactors(tx, actor.user_id)
    requireStrongSignIn(ctx, { hasFactor: factors.length > 0 })
    const id = newId()
    const { stored, shown } = await (kind === 'totp' ? aTotp(ctx, id, owner) : aPasskey(ctx, owner, factors))
    const made = await insertFactor(ctx, { id, kind, name, ...stored })
    if (made === undefined) {
      throw new Problem('unprocessable', `you have ${maxFactors} second factors already; remove one first`)
    }
    const expires_at = new Date(Date.parse(made.created_at) + setUpSeconds * 1000).toISOString()
    return { id, kind, expires_at, ...shown }
  },
})

type Begun = {
  stored: { sealed_secrets: string | null; challenge: string | null }
  shown: { totp: { secret: string; uri: string } } | { passkey: Record<string, unknown> }
}

async function aTotp(ctx: Ctx, id: string, { email }: FactorOwner): Promise<Begun> {
  const secret = makeTotpSecret()
  const issuer = `Sallyport (${new URL(ctx.public_url).hostname})`
  return {
    stored: { sealed_secrets: await sealTotpSecret(ctx, id, secret), challenge: null },
    shown: { totp: { secret, uri: totpUri(secret, { issuer, account: email }) } },
  }
}

async function aPasskey({ public_url }: Ctx, owner: FactorOwner, factors: readonly ConfirmedFactor[]): Promise<Begun> {
  const site = passkeySite(public_url)
  if (site === undefined) throw noPasskeysHere(public_url)
  const passkey = await askForPasskey(site, owner, factors.filter(isPasskey))
  return { stored: { sealed_secrets: null, challenge: passkey.challenge }, shown: { passkey: { ...passkey } } }
}
