import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** A directory that is read: what differs from what is here is written, and nothing else. */
const house = await openHouse()

suite('a directory that is read', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, users, changes, provider } = stage

  test('makes its people users, from all of its pages', async () => {
    said.pages = [{ people: [member('a'), member('b')] }, {}, { people: [member('c', { active: false })] }]
    const run = await sync()
    assert.deepEqual([run.status, run.error], ['synced', null])
    assert.deepEqual(
      (await users()).map(({ external_id, name, active }) => [external_id, name, active]),
      [
        ['a', 'Person a', true],
        ['b', 'Person b', true],
      ],
    )
    const { people, added, left_out } = run.counts
    assert.deepEqual({ people, added, left_out }, { people: 3, added: 2, left_out: 1 })
    assert.deepEqual(await changes(run.id), [
      ['a', 'add', 'done'],
      ['b', 'add', 'done'],
      ['c', 'left_out', 'none'],
    ])
    const { sync_status, sync_error, last_synced_at } = await provider()
    assert.deepEqual([sync_status, sync_error, typeof last_synced_at], ['synced', null, 'string'])
  })

  test('that says the same again changes nothing', async () => {
    const events = () => house.asSuperuser("select id from event where type like 'user.%'")
    const before = await events()
    const run = await sync()
    assert.deepEqual([run.status, run.counts.unchanged, run.counts.added], ['synced', 2, 0])
    assert.deepEqual(await events(), before)
  })

  test('changes, stops and brings back', async () => {
    said.pages = [{ people: [member('a', { displayName: 'Ada' }), member('b', { active: false })] }]
    const first = await sync()
    assert.deepEqual([first.counts.changed, first.counts.disabled], [1, 1])
    assert.deepEqual(
      (await users()).map(({ name, active }) => [name, active]),
      [
        ['Ada', true],
        ['Person b', false],
      ],
    )
    said.pages = [{ people: [member('b')] }]
    const second = await sync()
    assert.deepEqual([second.counts.enabled, second.counts.disabled], [1, 1])
    assert.deepEqual(
      (await users()).map(({ active }) => active),
      [false, true],
    )
    assert.deepEqual(await changes(second.id), [
      ['a', 'absent', 'done'],
      ['b', 'enable', 'done'],
    ])
  })
})
