import { newId } from '../../src/kernel/id.ts'
import { sampleBodies } from './sample-bodies.ts'

/**
 * Valid bodies with more than the required fields, so that a test can put its own text in each field while the rest stays
 * valid. The user signs in by a provider: hashing a password would cost more than everything else.
 */
export function fullBody(operationId: string): unknown {
  return more[operationId]?.() ?? sampleBodies[operationId]
}

const more: Record<string, () => unknown> = {
  createRequest: () => ({ ...(sampleBodies.createRequest as object), reason: 'because', metadata: { note: 'a note' } }),
  createRule: () => rule,
  updateRule: () => rule,
  createUser: () => ({
    email: `${newId()}@example.com`,
    name: 'New',
    roles: ['user'],
    auth_provider: 'oidc',
  }),
  upsertCloudAccounts: () => ({ resources: [{ id: '1', account_id: '1', name: 'One', metadata: { note: 'a note' } }] }),
}

/** A rule that uses every field, and forbids nothing to any user. */
const rule = {
  effect: 'forbid',
  principal_scope_type: 'eq',
  principal_entity_type: 'User',
  principal_entity_id: 'nobody',
  action_scope_type: 'in',
  action_ids: ['nothing'],
  resource_scope_type: 'eq',
  resource_entity_type: 'cloud_storage_bucket',
  resource_entity_id: 'nowhere',
  conditions: 'when { context.has_reason }',
  notice: 'a notice',
}
