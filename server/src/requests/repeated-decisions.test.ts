import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { approving, bulkStage, outcomesOf } from '../../test/support/bulk-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { rounds, together } from '../../test/support/race.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import type { DecisionResult } from './bulk-decision.ts'

/** A call that decides several requests, sent again with its `Idempotency-Key`. */
const house = await openHouse()
const on = await bulkStage(house, 'sent again')
const { tenant_id, people } = on
const faults = await on.breakWrites()
const withKey = () => ({ 'idempotency-key': newId() })
const once = ['approved', 1]

suite('a call that decides several requests, with an Idempotency-Key (R12)', () => {
  test('decides once: sent again, it gets the same results to the byte', async () => {
    const ids = await on.pending(3)
    const [own] = await on.pending(1, people.approver)
    const [headers, sent] = [withKey(), approving([...ids, own ?? '', newId()])]
    const first = await on.send(people.approver, sent, headers)
    assert.deepEqual(outcomesOf(first.body.results as DecisionResult[]), [
      200,
      200,
      200,
      '403 forbidden',
      '404 not_found',
    ])
    const second = await on.send(people.approver, sent, headers)
    assert.deepEqual([second.status, second.text], [200, first.text])
    assert.deepEqual(
      [first.headers['idempotency-replayed'], second.headers['idempotency-replayed']],
      [undefined, 'true'],
    )
    const fresh = await on.send(people.approver, approving(await on.pending(2)), withKey())
    assert.deepEqual([fresh.status, fresh.headers['idempotency-replayed']], [200, undefined])
    assert.deepEqual(await on.decidedOf(ids), [once, once, once])
    const refused = (await on.eventsOf(own ?? '')).filter(({ type }) => type === 'access.refused')
    assert.equal(refused.length, 1)
    // Without the key it is another call.
    assert.deepEqual(
      outcomesOf(await on.decide(people.approver, approving(ids))),
      Array(3).fill('409 request_not_pending'),
    )
  })

  test('with another body is 422, and decides nothing, even what both bodies list', async () => {
    const [first = '', second = '', third = ''] = await on.pending(3)
    const headers = withKey()
    await on.decide(people.approver, approving([first]), headers)
    for (const sent of [
      approving([second]),
      approving([first, second]),
      approving([third, first]),
      [{ id: first, decision: 'deny' }],
      [{ id: first, decision: 'approve', reasoning: 'because' }],
    ]) {
      const reused = await on.send(people.approver, sent, headers)
      assert.deepEqual([reused.status, reused.body.code], [422, 'idempotency_key_reused'])
    }
    assert.deepEqual(await on.decidedOf([first, second, third]), [once, ['pending', 0], ['pending', 0]])
  })

  test('whose body was refused has not used the key', async () => {
    const [id = ''] = await on.pending(1)
    const headers = withKey()
    assert.equal((await on.send(people.approver, approving([id, id]), headers)).status, 400)
    assert.deepEqual(outcomesOf(await on.decide(people.approver, approving([id]), headers)), [200])
  })

  test('is 409 while the first one is running, which then decides all', async () => {
    const ids = await on.pending(3)
    const headers = withKey()
    const first = await house.database.tenant(tenant_id).interactive(async (inside) => {
      await inside.write([sql`select from access_request where tenant_id = ${tenant_id} and id = ${ids[1]} for update`])
      const deciding = on.decide(people.approver, approving(ids), headers)
      await aLockIsWaitedFor(house, inside)
      const second = await on.send(people.approver, approving(ids), headers)
      assert.deepEqual([second.status, second.body.code], [409, 'idempotency_in_progress'])
      // Each decision is committed by itself: the first one is, while the second is being made.
      assert.deepEqual(await on.decidedOf(ids), [once, ['pending', 0], ['pending', 0]])
      return { deciding }
    })
    assert.deepEqual(outcomesOf(await first.deciding), [200, 200, 200])
    assert.deepEqual(await on.decide(people.approver, approving(ids), headers), await first.deciding)
  })

  test('after a fault decides what was left, and answers the rest as before', async () => {
    const ids = await on.pending(4)
    const headers = withKey()
    await faults.of(ids[2] ?? '')
    const first = await on.decide(people.approver, approving(ids), headers)
    assert.deepEqual(outcomesOf(first), [200, 200, '500 internal', 200])
    const still = await on.send(people.approver, approving(ids), headers)
    assert.equal(still.headers['idempotency-replayed'], undefined)
    assert.deepEqual(outcomesOf(still.body.results as DecisionResult[]), outcomesOf(first))
    await faults.repair()
    const second = await on.decide(people.approver, approving(ids), headers)
    assert.deepEqual(outcomesOf(second), [200, 200, 200, 200])
    assert.deepEqual(second.toSpliced(2, 1), first.toSpliced(2, 1))
    assert.deepEqual(await on.decidedOf(ids), [once, once, once, once])
    assert.deepEqual(await on.decide(people.approver, approving(ids), headers), second)
  })

  test('sent by many at once decides once: the others get its results, or 409', async () => {
    for (const _ of rounds(4)) {
      const ids = await on.pending(3)
      const headers = withKey()
      const all = await together(
        Array.from({ length: 4 }, () => () => on.send(people.approver, approving(ids), headers)),
      )
      for (const { status, body } of all) {
        if (status === 200) assert.deepEqual(outcomesOf(body.results as DecisionResult[]), [200, 200, 200])
        else assert.deepEqual([status, body.code], [409, 'idempotency_in_progress'])
      }
      assert.deepEqual(outcomesOf(await on.decide(people.approver, approving(ids), headers)), [200, 200, 200])
      assert.deepEqual(await on.decidedOf(ids), [once, once, once])
    }
  })

  test('needs the rights to decide also when it is sent again', async () => {
    const ids = await on.pending(1)
    const headers = withKey()
    await on.decide({ api_key: people.approver.api_key }, approving(ids), headers)
    await house.asSuperuser('update api_key set revoked_at = now() where created_by = $1', [people.approver.user_id])
    const again = await on.send({ api_key: people.approver.api_key }, approving(ids), headers)
    assert.equal(again.status, 401)
  })
})
