import { keyOf } from '../../src/provisioners/aws-identity-center/target.ts'
import { operatorEnvironment, startAws } from '../support/aws/aws.ts'
import { actionsByMode } from './company.ts'
import type { FieldTarget, TargetCall } from './field-target.ts'

/** The AWS operations of each call. */
const operations: Readonly<Record<TargetCall, readonly string[]>> = {
  create: ['CreateAccountAssignment'],
  delete: ['DeleteAccountAssignment'],
  poll: ['DescribeAccountAssignmentCreationStatus', 'DescribeAccountAssignmentDeletionStatus'],
  verify: ['ListAccountAssignmentsForPrincipal'],
}

/** The simulated AWS with the real one's rate limits. Each company has its own role. */
export async function openAwsField(): Promise<FieldTarget> {
  const aws = await startAws({ acts: { ms: 0, checks: 1 } })
  const { region, instance_arn, identity_store_id, origin } = aws
  const sets = Object.fromEntries(Object.values(actionsByMode).map((name) => [name, aws.addPermissionSet(name)]))
  let misdeeds: (() => void)[] = []
  return {
    type: 'aws-identity-center',
    env: { EGRESS_ALLOW: '127.0.0.1', ...operatorEnvironment },
    async furnish() {
      const role_arn = aws.addRole(null)
      const config = { region, instance_arn, identity_store_id, role_arn, endpoint: origin }
      return {
        body: { config, serves: [{ resource_type: 'cloud_account' }] },
        adopt: ({ external_id }) => aws.setExternalId(role_arn, external_id ?? ''),
      }
    },
    async welcome(email) {
      aws.addUser(email)
    },
    place: (mode) => ({ resource: { type: 'cloud_account', id: aws.addAccount() }, action: actionsByMode[mode] }),
    actionsOf: (mode) => [actionsByMode[mode]],
    setOnAccounts: sets[actionsByMode.auto],
    holds: async () =>
      aws
        .assignments()
        .map(({ account, set, principal }) =>
          keyOf(instance_arn, { account_id: account, principal_id: principal, permission_set_arn: set }),
        ),
    meet(call, moment, isStruck) {
      misdeeds = operations[call].map((operation) => aws.always({ operation, when: isStruck }, { cut: moment }))
    },
    pass() {
      for (const end of misdeeds.splice(0)) end()
    },
    failsPlans: false,
    injectable: [{ polls: 3 }, { failed: 1 }, { conflicting: 1 }],
    async inject({ polls = 1, failed = 0, throttled = 0, conflicting = 0 }) {
      aws.behave()
      aws.settings.acts = { ms: 0, checks: polls }
      // Throttling would slow the driver down for long, so acts fail instead.
      const failing = failed + throttled
      if (failing > 0) aws.next('*', { end: { status: 'FAILED', reason: 'Internal' } }, failing)
      if (conflicting > 0) aws.next('CreateAccountAssignment', { error: 'ConflictException' }, conflicting)
    },
    close: aws.close,
  }
}
