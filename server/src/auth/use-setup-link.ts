import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, Name } from '../http/schema.ts'
import { setUpFirstOwner } from '../users/owner-store.ts'
import { hashPassword, passwordFaults } from '../users/password.ts'
import { OwnTimeZone, readOwnTimeZone } from '../users/preferences.ts'
import { readNewUser } from '../users/user.ts'
import { tenantInKey } from './one-time-link.ts'
import { linkOver, requireSetupLink, SetupKey } from './setup-link.flow.ts'
import { byPassword, newSession, SignedIn, signedInUser } from './signed-in.ts'

/**
 * Makes the person who has a setup link the first owner, once. The owner that the first start made gets their name, address and password,
 * and keeps its id and its API keys.
 */
export const useSetupLink = operation({
  method: 'POST',
  path: '/v1/auth/setup-link',
  summary: 'Become the first owner by a setup link',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({
    key: SetupKey,
    name: Name(200),
    email: Type.String({ maxLength: 1000, description: 'one bare e-mail address, with which the owner signs in' }),
    password: Type.String({ maxLength: 1000 }),
    tenant_name: Type.Optional(Name(200, { description: 'the name of the organization; as it is when absent' })),
    // The owner's, and the tenant's where it has none of its own.
    timezone: OwnTimeZone,
  }),
  replies: { 200: SignedIn },
  errors: ['unauthenticated', 'tenant_suspended', 'user_exists'],
  changes: 'authority',
  tenantIn: tenantInKey,
  async run(ctx, { body: { key, name, email, password, tenant_name = null, timezone }, header }) {
    const { claim, link } = await requireSetupLink(ctx.tx, key)
    const owner = readNewUser({ name, email, password, roles: [] }, (text) => passwordFaults(text, link))
    const setup = {
      ...{ name: owner.name, email: owner.email, tenant_name, timezone: readOwnTimeZone(timezone) },
      password_hash: await hashPassword(ctx.tx, password),
    }
    const { source_ip } = ctx
    const session = newSession(byPassword, { source_ip, user_agent: header('user-agent') })
    const data = { source_ip, sid: session.id }
    const event = { type: 'auth.signed_in', subject_type: 'user', subject_id: claim.id, data } as const
    const as = { ...ctx, actor: signedInUser(claim.id) }
    const done = await setUpFirstOwner(as, claim, setup, { event, session })
    if (done === undefined) throw linkOver()
    return ctx.tokens.issue({
      tenant_id: claim.tenant_id,
      user_id: claim.id,
      session_id: session.id,
      now: new Date(done),
    })
  },
})
