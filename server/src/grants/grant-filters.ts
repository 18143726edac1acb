import { Type } from 'typebox'
import { createdRange, Search, SeveralOf, SeveralProvisioners, SeveralUsers } from '../http/list-query.ts'
import { DateTime, Uuid } from '../http/schema.ts'
import { askedTypes } from '../policy-engine/cedar/schema.ts'
import { grantStatuses, provisioningStatuses } from './grant.ts'

/** The filters of the list of grants, and of its count. */
export const grantFilters = {
  user_id: Type.Optional(SeveralUsers),
  request_id: Type.Optional(Uuid),
  status: Type.Optional(SeveralOf(grantStatuses)),
  provisioning_status: Type.Optional(SeveralOf(provisioningStatuses)),
  resource_type: Type.Optional(SeveralOf(askedTypes)),
  resource_id: Type.Optional(Type.String({ maxLength: 2_048 })),
  action: Type.Optional(Type.String({ maxLength: 2_048 })),
  provisioner_id: Type.Optional(SeveralProvisioners),
  drifted: Type.Optional(Type.Boolean({ description: 'whether they are active and their access was removed by hand' })),
  ends_before: EndsBefore('active grants that end before this moment'),
  ...createdRange,
  q: Search('the resource’s id and the action'),
}

export function EndsBefore(description: string) {
  return Type.Optional(Type.String({ ...DateTime, description }))
}
