import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findViolations } from './check.ts'
import type { Operation } from './history.ts'
import { approving, given, grant, made, ops, request } from './sample-operations.ts'

const {
  approve,
  deny,
  cancel,
  approveRefused,
  cancelRefused,
  lost,
  read,
  notFound,
  events,
  view,
  grantEvents,
  readGrant,
  ownGrants,
  itsGrants,
  ownRequests,
  revoke,
  revokeRefused,
  retry,
  extend,
  extendRefused,
} = ops

/** The positions of the operations that contradict one another, for each contradiction about the order. */
function contradictions(operations: readonly Operation[]): number[][] {
  const violations = findViolations(operations.map((one, nth) => ({ ...one, nth })))
  return violations.filter(({ rule }) => rule === 'one order').map((one) => one.operations.map(({ nth }) => nth))
}

/** Each history that no order explains, with the positions of the answers that contradict one another. */
const broken: Record<string, { history: Operation[]; shortest: number[] }> = {
  'a request that was made is not found': { history: [made, notFound([2, 3])], shortest: [0, 1] },
  'a list without a request that was made': { history: [made, ownRequests([2, 3], null)], shortest: [0, 1] },
  'a request that another caller made without an answer': {
    history: [lost([0, 1], 'ben', { name: 'create', mode: 'require' }), ownRequests([2, 3], null, request('pending'))],
    shortest: [1],
  },
  'a request that a rule approves at once is found pending': {
    history: [lost([0, 1], 'ada', { name: 'create', mode: 'auto' }), ownRequests([2, 3], null, request('pending'))],
    shortest: [1],
  },
  'two approvals succeed': { history: [made, approve([2, 9], 'ben'), approve([3, 9], 'cyd')], shortest: [1, 2] },
  'an approval and a denial succeed': {
    history: [made, approve([2, 9], 'ben'), deny([3, 9], 'cyd')],
    shortest: [1, 2],
  },
  'an approval and a cancellation succeed': {
    history: [made, approve([2, 9], 'ben'), cancel([3, 9])],
    shortest: [1, 2],
  },
  'pending after an approval was answered': {
    history: [made, read([1, 6], 'pending'), approve([2, 5], 'ben'), read([6, 7], 'pending')],
    shortest: [2, 3],
  },
  'pending after approved was read': {
    history: [made, approve([2, 20], 'ben'), read([3, 4], 'approved', { decided_by: 'ben' }), read([5, 6], 'pending')],
    shortest: [2, 3],
  },
  'the loser hears of another winner': {
    history: [made, approve([2, 9], 'ben'), approveRefused([3, 9], 'cyd', 'approved', 'cyd')],
    shortest: [2],
  },
  'the loser hears of another end': {
    history: [made, approve([2, 9], 'ben'), cancelRefused([3, 9], 'denied', 'cyd')],
    shortest: [2],
  },
  'approved, though nobody approved': {
    history: [made, read([2, 3], 'approved', { decided_by: 'ben' })],
    shortest: [1],
  },
  'approved before anybody began to approve': {
    history: [made, read([2, 3], 'approved', { decided_by: 'ben' }), approve([4, 5], 'ben')],
    shortest: [1],
  },
  'a list of pending requests without one that is pending': {
    history: [made, ownRequests([2, 3], 'approved', request('approved')), read([4, 5], 'pending')],
    shortest: [1],
  },
  'a list of pending requests with one that was cancelled': {
    history: [made, cancel([2, 3]), ownRequests([4, 5], 'pending', request('pending'))],
    shortest: [1, 2],
  },
  'events without an approval that was answered': {
    history: [made, approve([2, 3], 'ben'), events([4, 5], 'created')],
    shortest: [1, 2],
  },
  'events of two ends': { history: [made, events([2, 3], 'created', 'approved', 'denied')], shortest: [1] },
  'events of a grant without an end that was answered': {
    history: [...given, revoke([4, 5], 'ada', 'deprovisioning'), grantEvents([6, 7], 'activated')],
    shortest: [2, 3],
  },
  'events of a grant that is active, without its beginning': {
    history: [...given, grantEvents([4, 5]), readGrant([6, 7], 'active', 'successful')],
    shortest: [1, 2],
  },
  'an approval without its grant': {
    history: [made, approve([2, 3], 'ben'), itsGrants([4, 5])],
    shortest: [1, 2],
  },
  'a status view that is approved and has no grant': {
    history: [made, approve([2, 9], 'ben'), view([3, 4], 'approved')],
    shortest: [2],
  },
  'a grant before its request is approved': {
    history: [
      made,
      approve([2, 20], 'ben'),
      itsGrants([3, 4], grant('pending', 'not_attempted')),
      read([5, 6], 'pending'),
    ],
    shortest: [2, 3],
  },
  'a grant of a request that was denied': {
    history: [
      made,
      deny([2, 20], 'ben'),
      itsGrants([3, 4], grant('pending', 'not_attempted')),
      lost([2, 9], 'cyd', approving),
    ],
    shortest: [1, 2],
  },
  'active after it was ended': {
    history: [...given, revoke([4, 5], 'ada', 'deprovisioning'), readGrant([6, 7], 'active', 'successful')],
    shortest: [2, 3],
  },
  'active after expired was read': {
    history: [
      ...given,
      readGrant([4, 5], 'expired', 'deprovisioning'),
      ownGrants([6, 7], 'active', grant('active', 'successful')),
    ],
    shortest: [2, 3],
  },
  'a list of active grants without one that is active': {
    history: [...given, ownGrants([4, 5], 'active'), readGrant([6, 7], 'active', 'successful')],
    shortest: [1, 2, 3],
  },
  'two ends of one grant': {
    history: [...given, revoke([4, 9], 'ada', 'deprovisioning'), revoke([5, 9], 'ben', 'deprovisioning')],
    shortest: [2, 3],
  },
  'ended, though nobody ended it': {
    history: [...given, readGrant([4, 5], 'revoked', 'deprovisioned')],
    shortest: [2],
  },
  'ended by another': {
    history: [
      ...given,
      revoke([4, 5], 'ben', 'deprovisioning'),
      readGrant([6, 7], 'revoked', 'deprovisioned', { ended_by: 'ada' }),
    ],
    shortest: [3],
  },
  'ending a live grant is refused as if it had ended': {
    history: [...given, revokeRefused([4, 5], 'expired'), readGrant([6, 7], 'active', 'successful')],
    shortest: [2, 3],
  },
  'a step back at the target': {
    history: [...given, readGrant([4, 5], 'expired', 'deprovisioned'), readGrant([6, 7], 'expired', 'deprovisioning')],
    shortest: [2, 3],
  },
  'pending after it was active': {
    history: [...given, readGrant([4, 5], 'pending', 'attempting')],
    shortest: [1, 2],
  },
  'a grant that failed begins again by itself': {
    history: [
      ...given.slice(0, 1),
      itsGrants([2, 3], grant('failed', 'failed')),
      readGrant([4, 5], 'pending', 'not_attempted'),
    ],
    shortest: [1, 2],
  },
  'a retry of a grant that is active': { history: [...given, retry([4, 5])], shortest: [1, 2] },
  'two extensions at once': {
    history: [...given, extend([4, 5], 'x'), extend([6, 7], 'y'), read([8, 9], 'pending', { id: 'x', extends: 'g' })],
    shortest: [2, 3, 4],
  },
  'an extension of access that has ended': {
    history: [...given, revoke([4, 5], 'ada', 'deprovisioning'), extend([6, 7], 'x')],
    shortest: [2, 3],
  },
  'the request to extend outlives the grant that was ended': {
    history: [
      ...given,
      extend([4, 5], 'x'),
      revoke([6, 7], 'ada', 'deprovisioning'),
      read([8, 9], 'pending', { id: 'x', extends: 'g' }),
    ],
    shortest: [3, 4],
  },
  'an extension is approved after its grant was ended': {
    history: [...given, extend([4, 5], 'x'), revoke([6, 7], 'ada', 'deprovisioning'), approve([8, 9], 'ben', 'x')],
    shortest: [3, 4],
  },
  'an extension is approved after the time of its grant was over': {
    history: [
      ...given,
      extend([4, 5], 'x'),
      readGrant([6, 7], 'expired', 'deprovisioning'),
      approve([8, 9], 'ben', 'x'),
    ],
    shortest: [3, 4],
  },
  'the extension outlives the grant that was ended': {
    history: [
      ...given,
      extend([4, 5], 'x', 'approved'),
      readGrant([6, 7], 'active', 'successful', { id: 'e', request_id: 'x', extends: 'g' }),
      revoke([8, 9], 'ada', 'deprovisioning'),
      readGrant([10, 11], 'active', 'successful', { id: 'e', request_id: 'x', extends: 'g' }),
    ],
    shortest: [4, 5],
  },
  'an extension is refused because of another that was denied before': {
    history: [
      ...given,
      extend([4, 5], 'x'),
      read([6, 7], 'expired', { id: 'x', extends: 'g' }),
      extendRefused([8, 9], 'x'),
    ],
    shortest: [3, 4],
  },
}

for (const [name, { history, shortest }] of Object.entries(broken)) {
  test(`finds: ${name}`, () => assert.deepEqual(contradictions(history), [shortest]))
}
