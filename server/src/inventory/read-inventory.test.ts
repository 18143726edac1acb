import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { account, type InventoryStage, inventoryStage, person } from '../../test/support/inventory-stage.ts'
import { NotNow, TargetError } from '../provisioners/driver.ts'
import { inventoryParts } from '../provisioners/target-inventory.ts'
import { beginInventory, refreshInventory } from './inventory-part-store.ts'

const db = await testDatabase()
let stage: InventoryStage

beforeEach(async () => {
  stage = await inventoryStage(db)
})

const failing = (error: Error) => {
  stage.said.pages = { people: [{}] }
  stage.said.meanwhile = async () => {
    throw error
  }
}

/** A run begins and ends at about the same moment. */
const isAbout = (seconds: number, expected: number) => assert.ok(Math.abs(seconds - expected) < 60, `${seconds} s`)

suite('a part is due again', () => {
  test('an hour after its end; people after a quarter', async () => {
    for (const part of inventoryParts) {
      await stage.read(part)
      const { seconds, finished_at, lease_until } = await stage.partOf(part)
      isAbout(seconds, part === 'people' ? 900 : 3_600)
      assert.notEqual(finished_at, null)
      assert.equal(lease_until, null)
    }
  })

  test('after a failure from 5 minutes to an hour, with its reason, and without one once it succeeds', async () => {
    failing(new TargetError('permanent', 'the role lacks `organizations:ListRoots`'))
    for (const expected of [300, 600, 1_200, 2_400, 3_600, 3_600]) {
      await stage.read('people')
      const { seconds, last_error, finished_at } = await stage.partOf('people')
      isAbout(seconds, expected)
      assert.equal(last_error, 'the role lacks `organizations:ListRoots`')
      assert.equal(finished_at, null)
    }
    stage.said.meanwhile = async () => undefined
    await stage.read('people')
    const { failures, last_error } = await stage.partOf('people')
    assert.deepEqual([failures, last_error], [0, null])
  })

  test('soon where the target’s rate limit had no room, which is no failure', async () => {
    failing(new NotNow(5_000))
    await stage.read('people')
    const { seconds, failures, last_error } = await stage.partOf('people')
    assert.ok(seconds <= 60)
    assert.deepEqual([failures, last_error], [0, null])
  })

  test('a fault of ours is thrown', async () => {
    failing(new Error('a fault'))
    await assert.rejects(stage.read('people'), /a fault/)
  })
})

test('what a page said stays when a later one fails, and nothing is removed', async () => {
  stage.said.pages = { people: [{ people: [person('ada', 'a@example.com')] }] }
  await stage.read('people')
  stage.said.pages = { people: [{ people: [person('ben', 'b@example.com')] }, {}] }
  stage.said.meanwhile = async (_part, page) => {
    if (page === 1) throw new TargetError('transient', 'AWS did not answer')
  }
  await stage.read('people')
  const people = await db.asSuperuser('select id from inventory_person where tenant_id = $1 order by id', [
    stage.tenant_id,
  ])
  assert.deepEqual(people, [{ id: 'ada' }, { id: 'ben' }])
})

test('nothing is read before a test has found what the config leaves out', async () => {
  stage.said.toFind = ['instance_arn']
  failing(new Error('it was read'))
  await stage.read('people')
  const { failures, finished_at, lease_until } = await stage.partOf('people')
  assert.deepEqual([failures, finished_at, lease_until], [0, null, null])
})

suite('an inventory begins', () => {
  const nextSeconds = async () => (await stage.partOf('accounts')).seconds
  const begin = (changed: boolean) =>
    stage.tx.write([beginInventory(stage.tx, stage.provisioner_id, inventoryParts, changed)])

  test('not again with a passed test, when nothing has failed', async () => {
    await stage.read('accounts')
    await begin(false)
    isAbout(await nextSeconds(), 3_600)
  })

  test('at once with a passed test after a failure', async () => {
    stage.said.pages = { accounts: [{}] }
    stage.said.meanwhile = async () => {
      throw new TargetError('permanent', 'no')
    }
    await stage.read('accounts')
    isAbout(await nextSeconds(), 300)
    await begin(false)
    isAbout(await nextSeconds(), 0)
  })

  test('at once with a changed config, and the run under way ends without writing', async () => {
    stage.said.pages = { accounts: [{ accounts: [account('111111111111', 'Old')] }] }
    const item = await stage.claim('accounts')
    await begin(true)
    await stage.run(item)
    assert.deepEqual(await db.asSuperuser('select from cloud_account where tenant_id = $1', [stage.tenant_id]), [])
    const { seconds, finished_at } = await stage.partOf('accounts')
    isAbout(seconds, 0)
    assert.equal(finished_at, null)
  })

  test('at once with a refresh, unless it is being read', async () => {
    await stage.read('accounts', 'people')
    await db.asSuperuser(
      `update inventory_part set lease_until = clock_timestamp() + interval '1 hour'
        where part = 'people' and tenant_id = $1`,
      [stage.tenant_id],
    )
    await stage.tx.write([refreshInventory(stage.tx, stage.provisioner_id)])
    isAbout(await nextSeconds(), 0)
    isAbout((await stage.partOf('people')).seconds, 900)
  })
})
