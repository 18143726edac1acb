import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, DateTime, Uuid } from '../http/schema.ts'
import { tenantInKey } from './one-time-link.ts'
import { requireSetupLink, SetupKey } from './setup-link.flow.ts'

const ValidLink = Type.Object(
  {
    tenant: Type.Object({ id: Uuid, name: Type.String() }),
    expires_at: DateTime,
    password_min_length: Type.Integer({ description: 'characters that the owner’s password needs at least' }),
  },
  { title: 'SetupLink' },
)

/** What the page of a setup link shows before the form is filled in. */
export const checkSetupLink = operation({
  method: 'POST',
  path: '/v1/auth/setup-link/check',
  summary: 'See whether a setup link still works',
  credential: 'none',
  scope: null,
  limitedBy: 'failures',
  body: Body({ key: SetupKey }),
  replies: { 200: ValidLink },
  errors: ['unauthenticated', 'tenant_suspended'],
  tenantIn: tenantInKey,
  async run(ctx, { body: { key } }) {
    const { claim, link } = await requireSetupLink(ctx.tx, key)
    const tenant = { id: claim.tenant_id, name: link.tenant_name }
    return { tenant, expires_at: link.expires_at, password_min_length: link.min_length }
  },
})
