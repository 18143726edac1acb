import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, DateTime, Uuid } from '../http/schema.ts'
import { readSessionSecret } from '../sessions/session-secret.ts'
import { findSetupLink, type SetupLink } from '../users/owner-store.ts'
import { linkOver, SetupKey } from './setup-link.ts'

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
  errors: ['unauthenticated'],
  tenantIn: ({ key }) => readSessionSecret(key)?.tenant_id,
  async run(ctx, { body: { key } }) {
    const claim = readSessionSecret(key)
    const link = claim && (await findSetupLink(ctx.tx, claim))
    if (claim === undefined || link === undefined) throw linkOver()
    return shown(claim.tenant_id, link)
  },
})

function shown(id: string, { tenant_name, expires_at, min_length }: SetupLink) {
  return { tenant: { id, name: tenant_name }, expires_at, password_min_length: min_length }
}
