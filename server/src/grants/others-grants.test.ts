import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openGrantLists, type Query, sorts } from '../../test/support/grant-lists.ts'
import { openHouse } from '../../test/support/house.ts'
import { insertCrowd } from '../../test/support/listed-grants.ts'

/** Nobody learns of grants by the list that they may not see: not by rows, names or the end of a page. */
const house = await openHouse()
const { ours, theirs, holders, grants, own, foreign, filters, pageOf, listed } = await openGrantLists(house)
const { people, owner } = ours

suite('a caller without grants:read', () => {
  const visible = new Set(own.map(({ id }) => id))
  test('finds nothing of others’ by any filter, not even whether there is more', async () => {
    for (const sort of sorts) {
      for (const [query] of filters) {
        const rows = await listed(people.user, { ...query, ...(sort && { sort }) }, 100)
        assert.ok(rows.every(({ id, user_id }) => visible.has(id) && user_id === people.user.user_id))
      }
    }
  })

  test('finds nothing where another user is named', async () => {
    const none = { data: [], has_more: false }
    assert.deepEqual(await pageOf(people.user, { user_id: holders[1] ?? '' }), none)
    assert.equal((await listed(people.user, { user_id: holders.join() })).length, own.length)
  })

  test('finds nothing of a request of another user', async () => {
    const request_id = grants.find((grant) => !own.includes(grant))?.request_id ?? ''
    assert.deepEqual(await pageOf(people.user, { request_id }), { data: [], has_more: false })
    assert.equal((await pageOf(owner, { request_id })).data.length, 3)
  })

  test('does not learn from the end of a page how many grants others have', async () => {
    const crowd = await house.tenant('a crowd')
    await insertCrowd(house, crowd.tenant_id, crowd.people.approver.user_id, 2_100, 'active')
    await insertCrowd(house, crowd.tenant_id, crowd.people.user.user_id, 1, 'expired')
    for (const sort of sorts) {
      for (const [query] of filters) {
        const { user_id: _, ...shown }: Query = { ...query, ...(sort && { sort }) }
        const page = await pageOf(crowd.people.user, shown, crowd)
        assert.deepEqual(
          [page.has_more, page.next_cursor, page.data.length <= 1],
          [false, undefined, true],
          JSON.stringify(shown),
        )
      }
    }
  })
})

test('nobody finds a grant of another tenant, by any filter', async () => {
  const ids = new Set(grants.map(({ id }) => id))
  for (const [query] of filters) {
    for (const row of await listed(owner, query, 100)) assert.ok(ids.has(row.id), JSON.stringify(query))
  }
  const one = foreign.find(({ provisioner }) => provisioner !== null && provisioner !== 'sandbox')
  for (const query of [
    { user_id: one?.user_id ?? '' },
    { request_id: one?.request_id ?? '' },
    { provisioner_id: one?.provisioner ?? '' },
  ]) {
    assert.deepEqual(await pageOf(owner, query), { data: [], has_more: false })
    assert.ok((await listed(theirs.owner, query, 20, theirs)).length > 0)
  }
})
