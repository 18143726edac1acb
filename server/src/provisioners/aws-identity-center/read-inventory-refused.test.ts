import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, openAwsTarget, patient, quick } from '../../../test/support/aws-stage.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import { quickLimits } from '../../../test/support/quick-limits.ts'
import { TargetError } from '../driver.ts'
import type { InventoryPart } from '../target-inventory.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'

const { aws, opening, role_arn, accounts, sets, inputFor } = await openAwsTarget()
const driver = quick.open(opening)
/** A driver of another process: it has no credentials yet, and knows no name of a set. */
const openFresh = () => awsIdentityCenterAt(quickLimits, 0).open(opening)
const person = aws.addUser('ada@example.com')
aws.addGroup('Developers', [person])
aws.assignByHand(accounts[0], sets.ReadOnly, person)

/** The calls of each part, in their order. */
const calls: Readonly<Record<Exclude<InventoryPart, 'databases'>, readonly string[]>> = {
  accounts: [
    'organizations:ListRoots',
    'organizations:ListAccountsForParent',
    'organizations:ListTagsForResource',
    'organizations:ListOrganizationalUnitsForParent',
  ],
  permission_sets: ['sso:ListPermissionSets', 'sso:DescribePermissionSet', 'sso:ListManagedPoliciesInPermissionSet'],
  people: ['identitystore:ListUsers', 'identitystore:ListGroups', 'identitystore:ListGroupMemberships'],
  assignments: [
    'sso:ListPermissionSets',
    'sso:DescribePermissionSet',
    'sso:ListAccountsForProvisionedPermissionSet',
    'sso:ListAccountAssignments',
  ],
}

suite('a right that the role lacks is named', () => {
  for (const [part, needed] of Object.entries(calls)) {
    for (const right of needed) {
      test(`${right}, by the reading of ${part}`, async () => {
        aws.setActions(
          role_arn,
          Object.values(calls)
            .flat()
            .filter((one) => one !== right),
        )
        const { error } = await inventoryOf(openFresh(), part as InventoryPart)
        aws.setActions(role_arn, null)
        assert.ok(error instanceof TargetError, String(error))
        assert.equal(error.kind, 'permanent')
        const named = `the role lacks the right \`${right}\`: add it, as the guide’s policy does (AWS answered`
        assert.ok(error.message.startsWith(named), error.message)
      })
    }
  }

  test('but not in place of a role that cannot be assumed', async () => {
    const refused = quick.open({ ...opening, config: { ...opening.config, external_id: 'another' } })
    for (const part of ['accounts', 'permission_sets', 'people', 'assignments'] as const) {
      const { error } = await inventoryOf(refused, part)
      assert.match(`${error}`, /TargetError|AwsRefusal/)
      assert.match((error as TargetError).message, /^AWS answered AccessDenied to AssumeRole/)
    }
  })
})

suite('a reading that is throttled', () => {
  for (const [part, [, operation = '']] of Object.entries(calls).map(
    ([part, all]) => [part, all[0]?.split(':') ?? []] as const,
  )) {
    test(`goes on after a moment, and fails for now if that lasts: ${part}`, async () => {
      const tooMany = { error: part === 'accounts' ? 'TooManyRequestsException' : 'ThrottlingException' }
      aws.next(operation, tooMany, 2)
      assert.equal((await inventoryOf(openFresh(), part as InventoryPart)).error, undefined)
      const end = aws.always(operation, tooMany)
      const { error } = await inventoryOf(openFresh(), part as InventoryPart)
      end()
      assert.ok(error instanceof TargetError, String(error))
      assert.equal(error.kind, 'transient')
    })
  }
})

test('a reading stops when it is told to', async () => {
  const controller = new AbortController()
  aws.next('ListAccountsForParent', { hang: true })
  const reading = inventoryOf(driver, 'accounts', controller.signal)
  controller.abort(new Error('enough'))
  assert.ok((await reading).error !== undefined)
})

test('nothing is read unless it is asked for', async () => {
  const before = aws.entries().length
  const input = inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly')
  await driver.plan(noTx, input, patient)
  const made = aws.entries().slice(before)
  const only = new Set(['organizations:ListRoots', 'identitystore:ListUsers', 'identitystore:ListGroups'])
  assert.deepEqual(
    made.filter(({ service, operation }) => only.has(`${service}:${operation}`)),
    [],
  )
})
