import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findViolations } from './check.ts'
import type { Operation } from './history.ts'
import { approving, given, grant, made, ops, request } from './sample-operations.ts'

const {
  create,
  approve,
  cancel,
  approveRefused,
  lost,
  read,
  events,
  grantEvents,
  readGrant,
  ownGrants,
  itsGrants,
  ownRequests,
  revoke,
  retry,
  extend,
  extendRefused,
} = ops

const revoking = { name: 'revoke', grant: 'g' } as const

/** Histories that are as they should be, though they look odd. */
const sound: Record<string, Operation[]> = {
  'reads during a decision see either state': [
    made,
    approve([2, 9], 'ben'),
    read([3, 4], 'pending'),
    read([3, 8], 'approved', { decided_by: 'ben' }),
  ],
  'a decision takes effect before it is answered, also for those it refuses': [
    made,
    approve([2, 20], 'ben'),
    approveRefused([3, 4], 'cyd', 'approved', 'ben'),
    events([5, 6], 'created', 'approved'),
  ],
  'a change without an answer takes effect later': [
    made,
    lost([2, 3], 'ben', approving),
    read([10, 11], 'pending'),
    read([20, 21], 'approved', { decided_by: 'ben' }),
  ],
  'a change that was answered with 503 may have no effect': [
    made,
    lost([2, 3], 'ben', approving, 503),
    cancel([10, 11]),
    read([20, 21], 'cancelled'),
  ],
  'a request that was made without an answer is found': [
    lost([0, 1], 'ada', { name: 'create', mode: 'require' }),
    ownRequests([2, 3], null),
    ownRequests([4, 5], null, request('pending')),
    approve([6, 7], 'ben'),
  ],
  'access that was requested without an answer is found': [
    lost([0, 1], 'ada', { name: 'create', mode: 'auto' }),
    ownGrants([2, 3], 'active', grant('active', 'successful')),
  ],
  'of two changes without an answer one takes effect': [
    ...given,
    lost([4, 5], 'ada', revoking),
    lost([4, 6], 'ben', revoking, 503),
    readGrant([10, 11], 'revoked', 'deprovisioning', { ended_by: 'ben' }),
  ],
  'workers take several steps between two readings': [
    made,
    approve([2, 3], 'ben'),
    readGrant([4, 5], 'expired', 'deprovisioned'),
  ],
  'a grant that failed begins again by a retry': [
    create([0, 1], 'approved'),
    itsGrants([2, 3], grant('failed', 'failed')),
    retry([4, 5]),
    readGrant([6, 7], 'active', 'successful'),
  ],
  'events tell of an end that is being answered': [
    ...given,
    revoke([4, 20], 'ada', 'deprovisioning'),
    grantEvents([5, 6], 'activated'),
    grantEvents([7, 8], 'activated', 'revoked'),
  ],
  'an extension that was made without an answer shows': [
    ...given,
    lost([4, 5], 'ada', { name: 'extend', grant: 'g' }),
    extendRefused([6, 7], 'x'),
    readGrant([8, 9], 'active', 'successful', { extended_by: { request_id: 'x', status: 'pending' } }),
  ],
  'who ends a grant ends its extension': [
    ...given,
    extend([4, 5], 'x', 'approved'),
    revoke([6, 7], 'ben', 'deprovisioning'),
    readGrant([8, 9], 'revoked', 'deprovisioned', { id: 'e', request_id: 'x', ended_by: 'ben' }),
  ],
  'a list of active grants leaves out one that is being ended': [
    ...given,
    revoke([4, 20], 'ada', 'deprovisioning'),
    ownGrants([5, 6], 'active'),
    ownGrants([7, 8], null, grant('revoked', 'deprovisioning', { ended_by: 'ada' })),
  ],
}

for (const [name, history] of Object.entries(sound)) {
  test(`accepts: ${name}`, () => assert.deepEqual(findViolations(history), []))
}
