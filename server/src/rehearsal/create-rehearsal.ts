import { keepRefusal } from '../events/keep-refusal.ts'
import { operation } from '../http/operation.ts'
import { Body } from '../http/schema.ts'
import { requireHeld } from '../permissions/permission.ts'
import { rehearsalRoles } from '../roles/role.ts'
import { requireMayGrant } from '../users/user.ts'
import { completeRehearsal } from './create-rehearsal.flow.ts'
import { creationScopes, Rehearsal } from './rehearsal.ts'

/** Creates the rehearsal of an owner: once. A later call creates again what is missing, and answers what is there. */
export const createRehearsal = operation({
  method: 'POST',
  path: '/v1/rehearsal',
  summary: 'Create colleagues, accounts and rules to rehearse with',
  credential: 'any',
  scope: 'settings:write',
  body: Body({}),
  replies: { 200: Rehearsal },
  errors: ['case_broken', 'not_in_rehearsal', 'unprocessable'],
  changes: 'authority',
  run(ctx) {
    return keepRefusal(ctx, { subject_type: 'tenant', subject_id: ctx.tx.tenant_id }, async () => {
      const say = (lacking: string) => `creating the rehearsal needs scopes that you lack: ${lacking}`
      requireHeld(ctx.actor.scopes, creationScopes, say)
      requireMayGrant(ctx.actor.scopes, rehearsalRoles)
      return completeRehearsal(ctx)
    })
  },
})
