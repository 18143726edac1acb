import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isActive, isDrifted, type Keeps, openGrantLists, type Query, sorts } from '../../test/support/grant-lists.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { insertCrowd, type ListedGrant } from '../../test/support/listed-grants.ts'
import { longVariable } from '../../test/support/race.ts'

/** The list of grants: its filters, orders, search, pages and names. Who sees what by it: `others-grants.test.ts`. */
const house = await openHouse()
const { ours, holders, provisioners, grants, own, filters, pageOf, listed } = await openGrantLists(house)
const { people, owner } = ours
const [first = '', second = ''] = provisioners
await house.asSuperuser(
  `insert into cloud_account (tenant_id, id, name, account_id, metadata, rank)
    values ($1, 'a', 'Payments', '100000000001', '{}', 0)`,
  [ours.tenant_id],
)

/** The ids that a list shows, in order: by (the moment, the id); a search of all grants comes in an order of its own. */
function expected(among: readonly ListedGrant[], query: Query, keeps: readonly Keeps[]): string[] {
  const sort = query.sort ?? (query.ends_before === undefined ? '-created_at' : 'expires_at')
  const byEnd = sort.endsWith('expires_at')
  const keyOf = (grant: ListedGrant) => `${byEnd ? grant.expires_at : grant.created_at} ${grant.id}`
  const kept = among.filter((grant) => (!byEnd || isActive(grant)) && keeps.every((keep) => keep(grant)))
  const inOrder = kept.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return (sort.startsWith('-') ? inOrder.reverse() : inOrder).map(({ id }) => id)
}

async function requireListed(
  person: Person,
  among: readonly ListedGrant[],
  query: Query,
  keeps: readonly Keeps[],
  limit = 20,
) {
  const ids = (await listed(person, query, limit)).map(({ id }) => id)
  const right = expected(among, query, keeps)
  const anyOrder =
    query.q !== undefined && query.user_id === undefined && query.request_id === undefined && among === grants
  const what = JSON.stringify(query)
  if (anyOrder) assert.deepEqual([...ids].sort(), [...right].sort(), what)
  else assert.deepEqual(ids, right, what)
}

suite('a filter finds exactly the grants that have its values', () => {
  for (const sort of sorts) {
    test(`each filter alone, sort=${sort}`, async () => {
      // Small pages once, since each costs a call.
      const limit = sort === '' ? 7 : 20
      for (const [query, keeps] of [[{}, () => true] as const, ...filters]) {
        const sorted: Query = { ...query, ...(sort && { sort }) }
        await requireListed(owner, grants, sorted, [keeps], limit)
        await requireListed(people.user, own, sorted, [keeps], limit)
      }
    })
  }

  // In a usual run with every third, and each filter with others than the one before it.
  const everyNth = process.env[longVariable] === undefined ? 3 : 1
  for (const [index, [query, keeps]] of filters.entries()) {
    test(`${Object.keys(query)} (${index + 1}) with other filters`, async () => {
      for (const [place, [other, keepsOther]] of filters.slice(index + 1).entries()) {
        if (Object.keys(other).some((name) => name in query) || (index + place) % everyNth !== 0) continue
        const sort = sorts[(index + place) % sorts.length]
        const both: Query = { ...query, ...other, ...(sort && { sort }) }
        await requireListed(owner, grants, both, [keeps, keepsOther])
        await requireListed(people.user, own, both, [keeps, keepsOther])
      }
    })
  }

  test('each filter keeps some grants and leaves out others', () => {
    for (const [query, keeps] of filters.filter(([{ q }]) => q !== 'STRASSE')) {
      const kept = grants.filter(keeps).length
      assert.ok(kept > 0 && kept < grants.length, `${JSON.stringify(query)}: ${kept}`)
      if (!('user_id' in query)) assert.ok(grants.some((grant) => keeps(grant) && !own.includes(grant)))
    }
  })

  test('me is the caller', async () => {
    await requireListed(people.user, own, { user_id: 'me' }, [])
    await requireListed(people.approver, grants, { user_id: 'me' }, [({ user_id }) => user_id === holders[1]])
  })

  test('pages of one row each show every grant once', async () => {
    for (const query of [{}, { sort: 'expires_at' }, { status: 'active,expired' }, { user_id: holders.join() }]) {
      await requireListed(
        owner,
        grants,
        query,
        'status' in query ? [({ status }) => /active|expired/.test(status)] : [],
        1,
      )
    }
    const found = await listed(owner, { q: '1000 read' }, 1)
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
  })
})

test('pages that end early lead to every grant', async () => {
  const crowd = await house.tenant('early ends')
  await insertCrowd(house, crowd.tenant_id, crowd.people.user.user_id, 2_500, 'active')
  const rare = { status: 'active', action: 'Rare' }
  for (const query of [
    rare,
    { ...rare, sort: 'expires_at' },
    { q: 'read rare' },
    { q: 'rare', user_id: crowd.people.user.user_id },
  ]) {
    const ids = (await listed(crowd.owner, query, 2, crowd)).map(({ id }) => id)
    assert.deepEqual(
      [ids.length, new Set(ids).size],
      'q' in query && query.q === 'read rare' ? [0, 0] : [3, 3],
      JSON.stringify(query),
    )
  }
  const early = await pageOf(crowd.owner, { ...rare, sort: 'expires_at', resource_id: '1' }, crowd)
  assert.deepEqual([early.data.length, early.has_more], [0, true])
})

test('names stand beside the ids, the same in the list and alone', async () => {
  const names = new Map(
    [people.user, people.approver, people.auditor].map(({ user_id }, n) => [
      user_id,
      ['user', 'approver', 'auditor'][n],
    ]),
  )
  const provisioners = new Map([
    [first, 'Accounts'],
    [second, 'Databases'],
    ['sandbox', 'sandbox'],
  ])
  const byId = new Map((await listed(owner, {}, 50)).map((row) => [row.id, row]))
  for (const grant of grants) {
    const row = byId.get(grant.id)
    const { approved_by, ended_by } = grant
    const request = grants.find(({ request_id }) => request_id === grant.request_id)
    assert.deepEqual(
      {
        ...{ user_name: row?.user_name, ended_by_name: row?.ended_by_name, resource_name: row?.resource_name },
        ...{ provisioner_name: row?.provisioner_name, drifted: row?.drifted },
        ...{ approved_by: row?.approved_by, approved_by_name: row?.approved_by_name },
        break_glass: row?.break_glass,
      },
      {
        user_name: names.get(grant.user_id),
        ended_by_name: ended_by === null ? null : names.get(ended_by),
        resource_name:
          grant.resource_type === 'cloud_account' && grant.resource_id === '100000000001' ? 'Payments' : null,
        provisioner_name: grant.provisioner === null ? null : provisioners.get(grant.provisioner),
        drifted: isDrifted(grant),
        approved_by: request?.approved_by ?? null,
        approved_by_name: approved_by === null ? null : names.get(approved_by),
        break_glass: false,
      },
    )
    const url = `/v1/grants/${grant.id}`
    const { body } = await house.call({ method: 'GET', url, token: owner.token, tenant_id: ours.tenant_id })
    const { extended_by, extendable: _, ...named } = body
    assert.deepEqual([named, extended_by], [row, null])
  }
})
