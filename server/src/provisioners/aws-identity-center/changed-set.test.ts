import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { awsLedgerStage } from '../../../test/support/aws-ledger-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { quickLimits } from '../../../test/support/quick-limits.ts'
import { until } from '../../../test/support/wait.ts'

/** What Sallyport made at AWS is changed there by hand. The provisioner corrects no other drift. */
const house = await openHouse()

/** A tenant with active access by a set of its own. */
async function givenStage(name: string, settings: Parameters<typeof awsLedgerStage>[3] = {}) {
  const on = await awsLedgerStage(house, name, quickLimits, settings)
  const [account] = on.accounts
  const request = await on.onBucket('play-logs', account)
  const [grant] = await on.grantsAre(request, 'active', 'successful')
  assert.ok(grant)
  const set = () => {
    const found = on.aws.permissionSets().find(({ name }) => name.startsWith('sallyport-'))
    assert.ok(found)
    return found
  }
  const policies = () => [set().contents.inline_policy, set().provisioned[account]?.inline_policy]
  return { ...on, request, grant: grant.id, set, policies }
}

const statement = { Effect: 'Allow', Action: '*', Resource: '*' }
const everything = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })

suite('the inline policy of an own set that was changed by hand', () => {
  const changes: readonly [name: string, change: (policy: string) => string][] = [
    ['it allows everything', () => everything],
    ['one action more', (policy) => policy.replace('"s3:ListBucket"', '"s3:ListBucket","s3:*"')],
    ['it is removed', () => ''],
    ['it ends earlier', (policy) => policy.replaceAll(/"aws:CurrentTime":"\d{4}/g, '"aws:CurrentTime":"2020')],
    ['it ends later', (policy) => policy.replaceAll(/"aws:CurrentTime":"\d{4}/g, '"aws:CurrentTime":"2999')],
    [
      'a name that occurs twice',
      (policy) => policy.replace('"Action":["s3:GetBucketLocation","s3:ListBucket"]', '"Action":"*",$&'),
    ],
  ]
  for (const [name, change] of changes) {
    test(`${name}: a sweep reports it once, and it is put back (F21)`, async () => {
      const on = await givenStage(name)
      const before = on.policies()
      assert.equal(before[0], before[1])
      on.aws.setPolicyByHand(on.set().arn, change(before[0] ?? ''))
      assert.notDeepEqual(on.policies(), before)
      await on.sweep()
      const event = { type: 'grant.drifted', subject_id: on.grant, drift: 'changed' }
      assert.deepEqual(await on.driftEvents(), [event])
      assert.deepEqual(on.policies(), before)
      const { status, provisioning } = await on.view({ grant: on.grant })
      assert.deepEqual([status, provisioning.step, provisioning.drift], ['active', 'held', null])
      await on.sweep()
      assert.deepEqual(await on.driftEvents(), [event], 'notified once')
      await on.requireNoFailure()
      await on.workers.stop()
    })
  }

  test('a policy that AWS shows in another form is ours: nothing is reported or written', async () => {
    const on = await givenStage('another form', { policies: 'in another form' })
    const puts = () => on.aws.entries('PutInlinePolicyToPermissionSet').length
    assert.equal(puts(), 1)
    await on.sweep()
    assert.deepEqual(await on.driftEvents(), [])
    assert.equal(puts(), 1)
    on.aws.setPolicyByHand(on.set().arn, everything)
    await on.sweep()
    assert.equal((await on.driftEvents()).length, 1)
    assert.equal(puts(), 2)
    await on.workers.stop()
  })

  test('if it is changed again, it is reported again, and it ends as usual (F21)', async () => {
    const on = await givenStage('again')
    const before = on.policies()
    for (const times of [1, 2]) {
      on.aws.setPolicyByHand(on.set().arn, everything)
      await on.sweep()
      assert.equal((await on.driftEvents()).length, times)
      assert.deepEqual(on.policies(), before)
    }
    on.aws.setPolicyByHand(on.set().arn, everything)
    await on.revoke({ grant: on.grant })
    await on.grantsAre(on.request, 'revoked', 'deprovisioned')
    assert.deepEqual(on.aws.assignments(), [])
    assert.equal(on.aws.permissionSets().length, 2)
    await on.workers.stop()
  })

  test('while it cannot be put back, it is reported once and tried again (F21)', async () => {
    const on = await givenStage('refused')
    const before = on.policies()
    on.aws.next('PutInlinePolicyToPermissionSet', { error: 'InternalServerException' }, 2)
    on.aws.setPolicyByHand(on.set().arn, everything)
    await on.sweep()
    await until('it is put back', async () => isDeepStrictEqual(on.policies(), before))
    assert.equal((await on.driftEvents()).length, 1)
    await on.workers.stop()
  })
})
