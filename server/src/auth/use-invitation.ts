import { type Static, Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, Name } from '../http/schema.ts'
import { type JoinInput, type Joining, type JoinWay, join, type OwnProvider } from '../invitations/join-store.ts'
import type { Ctx } from '../kernel/context.ts'
import { invalidInput, Problem } from '../kernel/errors.ts'
import type { SessionClaim } from '../sessions/session-secret.ts'
import { hashPassword, passwordFaults } from '../users/password.ts'
import { OwnTimeZone, readOwnTimeZone } from '../users/preferences.ts'
import { InvitationKey, requireInvitation } from './invitation-link.flow.ts'
import { tenantInKey } from './one-time-link.ts'
import { byPassword, newSession, signedInUser } from './signed-in.ts'

const UseInput = Body({
  key: InvitationKey,
  password: Type.Optional(
    Type.String({ maxLength: 1000, description: 'required where the link leads to a password, otherwise left out' }),
  ),
  name: Type.Optional(Name(200, { description: 'as the inviter gave it when absent' })),
  timezone: OwnTimeZone,
  redirect_uri: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description:
        'where the link leads to the provider: one of the URIs in the sign-in settings, the first when absent',
    }),
  ),
})
type UseInput = Static<typeof UseInput>

/** Two kinds of answer, by what the link leads to. */
const Joined = Type.Object(
  {
    token: Type.Optional(Type.String({ description: 'with a password: a JWT, to send as `Authorization: Bearer`' })),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'with a password: the end of the token' }),
    ),
    authorize_url: Type.Optional(
      Type.String({ description: 'by the provider: where the browser goes on to sign in; there is no token yet' }),
    ),
  },
  { title: 'Joined', description: 'either `token` and `expires_at`, or `authorize_url`' },
)

/**
 * Makes the person who has the link of an invitation the user that was made for them, once. In a tenant with a sign-in provider of its own the
 * link signs nobody in: the user then waits for the account that the provider vouches for, by the exact verified address.
 */
export const useInvitation = operation({
  method: 'POST',
  path: '/v1/auth/invitation',
  summary: 'Join by the link of an invitation',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: UseInput,
  replies: { 200: Joined },
  errors: ['unauthenticated', 'tenant_suspended', 'version_conflict'],
  tenantIn: tenantInKey,
  async run(ctx, { body, header }) {
    const { claim, joining } = await requireInvitation(ctx.tx, body.key)
    const input = { name: body.name ?? null, timezone: readOwnTimeZone(body.timezone) }
    const asked = { claim, joining, body, input }
    if (joining.provider !== null) return joinByProvider(ctx, asked, joining.provider)
    return joinByPassword(ctx, asked, header('user-agent'))
  },
})

type Asked = { claim: SessionClaim; joining: Joining; body: UseInput; input: JoinInput }

async function joinByPassword(ctx: Ctx, asked: Asked, user_agent: string | undefined) {
  const { claim, joining, body } = asked
  const password = requirePassword(body, joining)
  const password_hash = await hashPassword(ctx.tx, password)
  const session = newSession(byPassword, { source_ip: ctx.source_ip, user_agent })
  const now = await joinOrExplain(ctx, asked, { password_hash, session })
  const { user_id } = joining
  return ctx.tokens.issue({ tenant_id: claim.tenant_id, user_id, session_id: session.id, now: new Date(now) })
}

function requirePassword({ password, redirect_uri }: UseInput, joining: Joining): string {
  const why = password === undefined ? 'is required: this link leads to a password' : passwordFaults(password, joining)
  const noProvider = 'must be left out: the tenant has no sign-in provider of its own'
  const faults = [
    ...(why === undefined ? [] : [{ pointer: '/password', why }]),
    ...(redirect_uri === undefined ? [] : [{ pointer: '/redirect_uri', why: noProvider }]),
  ]
  if (password === undefined || faults.length > 0) throw invalidInput(faults)
  return password
}

async function joinByProvider(ctx: Ctx, asked: Asked, provider: OwnProvider) {
  const { claim, body } = asked
  if (body.password !== undefined) {
    const why = 'must be left out: the people of this tenant sign in with its provider'
    throw invalidInput([{ pointer: '/password', why }])
  }
  const redirect_uri = requireRedirect(body.redirect_uri, provider)
  await joinOrExplain(ctx, asked, { provider })
  const query = new URLSearchParams({ tenant: claim.tenant_id, redirect_uri })
  return { authorize_url: `${ctx.public_url}/v1/auth/authorize?${query}` }
}

function requireRedirect(wanted: string | undefined, { redirect_uris }: OwnProvider): string {
  const uri = wanted ?? redirect_uris[0]
  if (uri !== undefined && redirect_uris.includes(uri)) return uri
  throw invalidInput([{ pointer: '/redirect_uri', why: 'is not listed in the sign-in settings: use one of theirs' }])
}

/** @throws Problem 401 for a link that is over by now, 409 where the way to sign in changed */
async function joinOrExplain(ctx: Ctx, { claim, joining, body, input }: Asked, way: JoinWay): Promise<string> {
  const now = await join({ ...ctx, actor: signedInUser(joining.user_id) }, claim, input, way)
  if (now !== undefined) return now
  await requireInvitation(ctx.tx, body.key)
  const why = 'how the people of this tenant sign in has just changed'
  throw new Problem('version_conflict', `${why}; check the link again, and use it then`)
}
