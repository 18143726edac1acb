import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, type SyncStage, syncStage } from '../support/sync-stage.ts'

/** People who are in a directory under another id than before: reconnected, with another attribute as the id, or others by the same address. */
const house = await openHouse()

/** A person of the directory with this address. */
const by = (id: string, address: string, more = {}) =>
  member(id, { userName: address, emails: [{ value: address, primary: true }], ...more })
const crowd = (count: number) => Array.from({ length: count }, (_, at) => member(`other-${at}`))

const conflictsOf = async ({ call, url }: SyncStage) =>
  (await call('GET', `${url}/conflicts`)).body.data as { id: string; user_id: string; of_directory: boolean }[]
const settle = async (stage: SyncStage, user_id: string | null) => {
  const [conflict] = await conflictsOf(stage)
  const { tenant_id, owner, url } = stage
  const request = { method: 'POST', url: `${url}/conflicts/${conflict?.id}/settle`, tenant_id, body: { user_id } }
  return house.call({ ...request, token: owner.token })
}

suite('a person who is there under another id', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, changes, users } = stage
  const others = crowd(8)
  let ada = ''
  // Not beside the other suite, whose runs are due at the same moment.
  before(async () => {
    said.pages = [{ people: [by('old', 'ada@example.com'), ...others] }]
    await sync()
    ada = (await users()).find(({ external_id }) => external_id === 'old')?.id ?? ''
  })
  const here = [by('new', 'ada@example.com', { displayName: 'Ada' }), ...others]

  test('is to be settled, says a dry run', async () => {
    said.pages = [{ people: here }]
    const { counts } = await sync({ dry_run: true })
    assert.deepEqual([counts.to_settle, counts.disabled, counts.failed], [1, 1, 0])
    assert.deepEqual(await conflictsOf(stage), [])
  })

  test('is stopped under the former id, and waits for a person', async () => {
    const run = await sync()
    assert.deepEqual(await changes(run.id), [
      ['new', 'settle', 'done'],
      ['old', 'absent', 'done'],
    ])
    const [conflict, ...more] = await conflictsOf(stage)
    assert.deepEqual([conflict?.user_id, conflict?.of_directory, more], [ada, true, []])
    assert.equal((await sync()).counts.to_settle, 1, 'as long as nobody settled it')
  })

  test('is the same user from the settlement on', async () => {
    assert.equal((await settle(stage, ada)).status, 200)
    const { counts } = await sync()
    assert.deepEqual([counts.unchanged, counts.to_settle, counts.disabled], [9, 0, 0])
    assert.deepEqual(
      (await users())
        .filter(({ id }) => id === ada)
        .map(({ external_id, name, active }) => [external_id, name, active]),
      [['new', 'Ada', true]],
    )
  })
})

test('a person whom the directory has disabled, and has again under another id, is to be settled', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, changes } = stage
  said.pages = [{ people: [by('contractor', 'kim@example.com'), ...crowd(8)] }]
  await sync()
  const disabled = by('contractor', 'kim@example.com', { active: false })
  said.pages = [{ people: [disabled, by('employee', 'kim@example.com'), ...crowd(8)] }]
  assert.deepEqual(await changes((await sync()).id), [
    ['contractor', 'disable', 'done'],
    ['employee', 'settle', 'done'],
  ])
})

suite('a conflict', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, users } = stage
  const others = crowd(8)
  const reads = async (...people: ReturnType<typeof by>[]) => {
    said.pages = [{ people: [...people, ...others] }]
    return (await sync()).counts
  }
  let ada = ''
  before(async () => {
    await reads(by('old', 'ada@example.com'))
    ada = (await users()).find(({ external_id }) => external_id === 'old')?.id ?? ''
  })

  test('ends with the run that finds the person disabled, or not at all', async () => {
    for (const after of [[by('new', 'ada@example.com', { active: false })], []]) {
      assert.equal((await reads(by('new', 'ada@example.com'))).to_settle, 1)
      assert.equal((await conflictsOf(stage)).length, 1)
      await reads(...after)
      assert.deepEqual(await conflictsOf(stage), [])
    }
  })

  test('stays with a run that fails, or is a dry one', async () => {
    await reads(by('new', 'ada@example.com'))
    said.pages = [{ people: others }]
    await sync({ dry_run: true })
    assert.equal((await conflictsOf(stage)).length, 1)
  })

  test('keeps apart the person whom it was about, and nobody else', async () => {
    await reads(by('bob', 'ada@example.com'))
    assert.equal((await settle(stage, null)).status, 200)
    assert.deepEqual([(await reads(by('bob', 'ada@example.com'))).left_out, (await conflictsOf(stage)).length], [1, 1])
    const { to_settle, left_out } = await reads(by('new', 'ada@example.com'))
    assert.deepEqual([to_settle, left_out], [1, 0])
    assert.equal((await settle(stage, ada)).status, 200)
    const found = (await users()).find(({ id }) => id === ada)
    assert.deepEqual([found?.external_id, found?.active], ['new', true])
  })
})

test('a person whom the directory has under another id with another address is known by the user name', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync } = stage
  said.pages = [{ people: [by('old', 'ada@example.com', { userName: 'ada' }), ...crowd(8)] }]
  await sync()
  said.pages = [{ people: [by('new', 'ada.l@example.com', { userName: 'ADA' }), ...crowd(8)] }]
  for (const dry_run of [true, false]) {
    const { counts } = await sync({ dry_run })
    assert.deepEqual([counts.to_settle, counts.added], [1, 0], `dry run: ${dry_run}`)
  }
})

test('those who are disabled and there again under another id are named as that', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync } = stage
  const many = Array.from({ length: 10 }, (_, at) => `p${at}`)
  said.pages = [{ people: many.map((id) => by(id, `${id}@example.com`)) }]
  await sync()
  const disabled = many.map((id) => by(id, `${id}@example.com`, { active: false }))
  said.pages = [{ people: [...disabled, ...many.map((id) => by(`new-${id}`, `${id}@example.com`))] }]
  assert.match(String((await sync()).error), /10 of 10 users .*; 10 of them are in the directory under another id/)
})

test('a person who has the address of a user of another directory is refused, although that one has left', async () => {
  const tenant = await house.tenant('Acme')
  const elsewhere = await syncStage(house, tenant)
  elsewhere.said.pages = [{ people: [by('kim', 'kim@example.com'), ...crowd(8)] }]
  await elsewhere.sync()
  elsewhere.said.pages = [{ people: crowd(8) }]
  await elsewhere.sync()
  const stage = await syncStage(house, tenant)
  stage.said.pages = [{ people: [by('new', 'kim@example.com')] }]
  for (const dry_run of [true, false]) {
    const { counts } = await stage.sync({ dry_run })
    assert.deepEqual([counts.failed, counts.to_settle], [1, 0])
  }
})

test('a successor who has the address of one who left is made once that user is deleted', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, users, call } = stage
  said.pages = [{ people: [by('first', 'desk@example.com'), ...crowd(8)] }]
  await sync()
  const first = (await users())[0]?.id
  assert.equal((await call('DELETE', `/v1/users/${first}`)).status, 403, 'as long as the directory has them')
  said.pages = [{ people: [by('second', 'desk@example.com'), ...crowd(8)] }]
  await sync()
  assert.equal((await settle(stage, null)).status, 200)
  assert.equal((await sync()).counts.left_out, 1)
  assert.equal((await call('DELETE', `/v1/users/${first}`)).status, 204)
  assert.equal((await sync()).counts.added, 1)
  const found = (await users()).find(({ external_id }) => external_id === 'second')
  assert.deepEqual([found?.email, found?.active, found?.id === first], ['desk@example.com', true, false])
})

test('one who was deleted, and whom the directory has again, is a new user', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, sync, users, call } = stage
  said.pages = [{ people: [member('a'), ...crowd(8)] }]
  await sync()
  const before = (await users())[0]?.id
  said.pages = [{ people: crowd(8) }]
  await sync()
  assert.equal((await call('DELETE', `/v1/users/${before}`)).status, 204)
  said.pages = [{ people: [member('a'), ...crowd(8)] }]
  assert.equal((await sync()).counts.added, 1)
  assert.notEqual((await users())[0]?.id, before)
})
