import { versionTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { IdParams } from '../http/schema.ts'
import { notFound } from '../kernel/errors.ts'
import { Provisioner } from './provisioner.ts'
import { findProvisioner } from './provisioner-store.ts'

/** Does not read the secrets of the config. */
export const getProvisioner = operation({
  method: 'GET',
  path: '/v1/provisioners/{id}',
  summary: 'Get a provisioner',
  credential: 'any',
  scope: 'provisioners:read',
  params: IdParams,
  replies: { 200: Provisioner },
  errors: ['not_found'],
  etag: versionTag,
  async run(ctx, { params }) {
    const provisioner = await findProvisioner(ctx.tx, params.id)
    if (provisioner === undefined) throw notFound('provisioner')
    return provisioner
  },
})
