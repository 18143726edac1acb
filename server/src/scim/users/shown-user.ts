import type { ScimAnswer, ScimCtx } from '../../http/scim-operation.ts'
import { enterpriseSchema, userKind, userSchema } from '../attribute.ts'
import type { Resource } from '../read-resource.ts'
import { resourceUrl } from '../resource-url.ts'
import { type Selection, selected } from '../shown-resource.ts'
import { weakTag } from '../version.ts'
import type { DirectoryUser } from './directory-user.ts'

/** A user as answers show them. */
export function shownUser(ctx: ScimCtx, user: DirectoryUser, selection: Selection): Resource {
  const { id, resource, active, created_at, updated_at, version } = user
  const { [enterpriseSchema]: enterprise, ...core } = resource
  const whole = {
    schemas: [userSchema, ...(enterprise === undefined ? [] : [enterpriseSchema])],
    id,
    ...core,
    active,
    ...(enterprise !== undefined && { [enterpriseSchema]: enterprise }),
    meta: {
      resourceType: userKind.name,
      created: created_at,
      lastModified: updated_at,
      location: resourceUrl(ctx, 'Users', id),
      version: weakTag(version),
    },
  }
  return selected(whole, selection)
}

/** The answer with one user. */
export function userAnswer(ctx: ScimCtx, status: 200 | 201, user: DirectoryUser, selection: Selection): ScimAnswer {
  return {
    status,
    body: shownUser(ctx, user, selection),
    etag: weakTag(user.version),
    location: resourceUrl(ctx, 'Users', user.id),
  }
}
