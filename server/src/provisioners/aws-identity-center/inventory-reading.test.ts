import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openAwsTarget, patient, quick } from '../../../test/support/aws-stage.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'
import { chunksOf } from './inventory-reading.ts'
import { pagesOf } from './pages.ts'
import { limitsOfAws, openRateLimiter } from './rate-limiter.ts'

suite('the pace of readings', () => {
  test('is kept by all readers of an instance together, and another one of the organization', async () => {
    const { aws, opening } = await openAwsTarget()
    for (let count = 0; count < 5; count += 1) aws.addPermissionSet(`Set${count}`)
    const type = awsIdentityCenterAt({ callsASecond: 5_000, operations: 500, readsASecond: 50 })
    const [one, other] = [type.open(opening), type.open({ ...opening, provisioner_id: 'another' })]
    const readAll = async () => {
      const parts = ['permission_sets', 'people', 'assignments', 'accounts'] as const
      const readings = [one, other].flatMap((driver) => parts.map((part) => inventoryOf(driver, part)))
      for (const { error } of await Promise.all(readings)) assert.equal(error, undefined)
    }
    // The first calls wait for credentials and code.
    await readAll()
    const before = aws.entries().length
    await readAll()
    const made = aws.entries().slice(before)
    for (const services of [['sso', 'identitystore'], ['organizations']]) {
      const times = made.flatMap(({ service, at }) => (services.includes(`${service}`) ? at : []))
      const took = (times.at(-1) ?? 0) - (times[0] ?? 0)
      assert.ok(times.length >= 10, `${times.length} calls`)
      // Calls differ a little in how long they are under way.
      assert.ok(took >= (times.length - 3) * 20, `${times.length} calls in ${took} ms`)
    }
  })

  test('is slow beside what AWS allows', () => {
    assert.equal(limitsOfAws.readsASecond, 4)
    assert.ok(limitsOfAws.readsASecond < limitsOfAws.callsASecond / 4)
  })

  test('does not hold up those who wait for access', async () => {
    const rateLimiter = openRateLimiter({ callsASecond: 10, operations: 8 })
    const order: string[] = []
    const until = performance.now() + 60_000
    const waitAndRecord = async (name: string, more: { urgent?: boolean; background?: true } = {}) => {
      await rateLimiter.wait({ urgent: false, until, signal: patient, ...more })
      order.push(name)
    }
    await Promise.all([
      waitAndRecord('first'),
      waitAndRecord('reading 1', { background: true }),
      waitAndRecord('reading 2', { background: true }),
      waitAndRecord('grant'),
      waitAndRecord('revoke', { urgent: true }),
    ])
    assert.deepEqual(order, ['first', 'revoke', 'grant', 'reading 1', 'reading 2'])
  })
})

test('a page of people waits for few calls, however many members groups have', async () => {
  const { aws, opening } = await openAwsTarget({ page: 2 })
  const everyone = Array.from({ length: 60 }, (_, index) => aws.addUser(`user-${index}@example.com`))
  const groups = ['All', 'Staff'].map((name) => aws.addGroup(name, everyone))
  const members = new Map(groups.map((id) => [id, 0]))
  const driver = quick.open(opening)
  let [before, most] = [aws.entries().length, 0]
  for await (const page of driver.readInventory?.('people', patient) ?? []) {
    const now = aws.entries().length
    most = Math.max(most, now - before)
    before = now
    for (const { id, member_ids } of page.groups ?? []) members.set(id, (members.get(id) ?? 0) + member_ids.length)
  }
  assert.deepEqual([...members.values()], [60, 60])
  // Of a chunk, and those that assume the role.
  assert.ok(most <= 15, `${most} calls`)
})

suite('pages', () => {
  test('are asked for with the token of the one before, to the last', async () => {
    const asked: (string | undefined)[] = []
    const pages = pagesOf(async (NextToken) => {
      asked.push(NextToken)
      return { NextToken: asked.length < 3 ? `token ${asked.length}` : undefined }
    })
    assert.equal((await Array.fromAsync(pages)).length, 3)
    assert.deepEqual(asked, [undefined, 'token 1', 'token 2'])
  })

  test('that repeat end the reading with an error', async () => {
    const pages = pagesOf(async () => ({ NextToken: 'the same' }))
    await assert.rejects(Array.fromAsync(pages), /AWS repeats a page of a list; try again later/)
  })

  test('without end end the reading with an error', async () => {
    let asked = 0
    const pages = pagesOf(async () => {
      asked += 1
      return { NextToken: `token ${asked}` }
    })
    await assert.rejects(Array.fromAsync(pages), /a list of AWS has more than 20000 pages/)
  })

  test('end when what they list is gone', async () => {
    assert.deepEqual(await Array.fromAsync(pagesOf(async () => undefined)), [])
  })

  test('are cut into small ones', () => {
    const sizes = (length: number) => [...chunksOf(Array.from({ length }))].map((some) => some.length)
    assert.deepEqual([0, 10, 23].map(sizes), [[], [10], [10, 10, 3]])
  })
})
