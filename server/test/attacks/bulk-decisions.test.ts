import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { approving, bulkStage, outcomesOf } from '../support/bulk-stage.ts'
import { openHouse } from '../support/house.ts'

/** A call for many requests decides nothing that the calls for each of them would not. */
const house = await openHouse()
const [ours, theirs] = [await bulkStage(house, 'ours'), await bulkStage(house, 'theirs')]
const { owner, people } = ours
const pending = ['pending', 0]

for (const headers of [{}, { 'idempotency-key': newId() }]) {
  const keyed = 'idempotency-key' in headers ? ', with an idempotency key' : ''

  suite(`a call that decides many requests${keyed}`, () => {
    test('decides none of the caller’s own among them, by no credential of theirs (P5)', async () => {
      const { key } = await ours.created(people.admin, '/v1/api-keys', {
        ...{ name: 'a key', scopes: ['requests:approve', 'api_keys:write'] },
      })
      const child = await house.call({
        ...{ method: 'POST', url: '/v1/api-keys', tenant_id: ours.tenant_id, api_key: String(key) },
        body: { name: 'a key of the key', scopes: ['requests:approve'] },
      })
      assert.equal(child.status, 201, child.text)
      for (const by of [
        { token: people.admin.token },
        { api_key: people.admin.api_key },
        { api_key: String(key) },
        { api_key: String(child.body.key) },
      ]) {
        const [own = ''] = await ours.pending(1, people.admin)
        const [first = '', last = ''] = await ours.pending(2)
        const results = await ours.decide(by, approving([first, own, last]), headers)
        assert.deepEqual(outcomesOf(results), [200, '403 forbidden', 200])
        assert.deepEqual(await ours.decidedOf([own]), [pending])
        // Each credential has its own keys, and the person’s token is used once.
        const denied = await ours.decide(by, [{ id: own, decision: 'deny' }])
        assert.deepEqual(outcomesOf(denied), ['403 forbidden'])
      }
    })

    test('answers a request of another tenant as one that does not exist', async () => {
      const [theirId = ''] = await theirs.pending(1)
      const [ourId = ''] = await ours.pending(1)
      const unknown = newId()
      // Another key than that of the test before.
      const own = keyed === '' ? {} : { 'idempotency-key': newId() }
      const results = await ours.decide(owner, approving([theirId, ourId, unknown]), own)
      assert.deepEqual(outcomesOf(results), ['404 not_found', 200, '404 not_found'])
      assert.deepEqual({ ...results[0], id: unknown }, results[2])
      assert.deepEqual(await theirs.decidedOf([theirId]), [pending])
      assert.deepEqual(
        (await theirs.eventsOf(theirId)).map(({ type }) => type),
        ['request.created'],
      )
    })

    test('is refused as a whole without the scope', async () => {
      const ids = await ours.pending(2)
      for (const by of [people.user, people.auditor]) {
        for (const credential of [{ token: by.token }, { api_key: by.api_key }]) {
          const reply = await ours.send(credential, approving(ids), headers)
          assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'])
        }
      }
      assert.deepEqual(await ours.decidedOf(ids), [pending, pending])
    })
  })
}
