import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, DateTime, OneOf, Uuid } from '../http/schema.ts'
import { InvitationKey, requireInvitation } from './invitation-link.flow.ts'
import { tenantInKey } from './one-time-link.ts'

const ValidInvitation = Type.Object(
  {
    tenant: Type.Object({ id: Uuid, name: Type.String() }),
    email: Type.String({ description: 'the address that was invited' }),
    name: Type.String({ description: 'the name that the inviter gave; the person may change it' }),
    expires_at: DateTime,
    leads_to: OneOf(['provider', 'password'], {
      description: 'how the person signs in: by the tenant’s provider, or with a password that they set with the link',
    }),
    password_min_length: Type.Integer({ description: 'characters that a password needs at least' }),
  },
  { title: 'InvitationLink' },
)

/** What the page of an invitation shows before the form is filled in. */
export const checkInvitation = operation({
  method: 'POST',
  path: '/v1/auth/invitation/check',
  summary: 'See whether the link of an invitation still works',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({ key: InvitationKey }),
  replies: { 200: ValidInvitation },
  errors: ['unauthenticated', 'tenant_suspended'],
  tenantIn: tenantInKey,
  async run(ctx, { body: { key } }) {
    const { claim, joining } = await requireInvitation(ctx.tx, key)
    const { tenant_name, email, name, expires_at, min_length, provider } = joining
    const leads_to = provider === null ? 'password' : 'provider'
    const tenant = { id: claim.tenant_id, name: tenant_name }
    return { tenant, email, name, expires_at, leads_to, password_min_length: min_length }
  },
})
