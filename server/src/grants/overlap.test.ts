import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** Grants of one entitlement: access stays until the last of them ends. */
const house = await openHouse()
startWorkers(house)
const on = await requestStage(house, 'overlap')
const { people } = on
await on.rule('@approval_mode("auto") permit (principal, action, resource);')

const unit = 'ou-ab12-12345678'
const set = 'arn:aws:sso:::permissionSet/ssoins-1234567890abcdef/ps-1234567890abcdef'

/** Three ways to request one permission set on one account. */
const ways = {
  'an account': (account: string) => on.account(account, { action: set }),
  'a permission set': (account: string) => ({
    resource: { type: 'cloud_permission_set', id: set },
    action: 'ReadOnly',
    metadata: { account_ids: [account] },
  }),
  'a unit': () => ({ resource: { type: 'cloud_organizational_unit', id: unit }, action: set }),
}
type Way = keyof typeof ways

/** An account of its own for a test, the only one in the unit. */
let last: string | undefined
async function newAccount(id: string): Promise<string> {
  if (last !== undefined) await on.cache({ [last]: {} })
  await on.cache({ [id]: { units: [unit] } })
  last = id
  return id
}

async function given(way: Way, account: string, more: object = {}): Promise<string> {
  const request = await on.ask({ ...ways[way](account), ...more })
  await on.grantsAre(request, 'active', 'successful')
  return request
}

async function revoke(request: string): Promise<void> {
  for (const grant of await on.grantsOf(request)) {
    const reply = await on.call(people.user, 'POST', `/v1/grants/${grant.id}/revoke`)
    assert.equal(reply.status, 200, reply.text)
  }
}

/** Moves the end of a request's access to now, as if it had passed. */
async function expire(request: string): Promise<void> {
  await house.asSuperuser(
    `with ending as (update access_grant set expires_at = clock_timestamp() where request_id = $1
      returning entitlement_id)
      update entitlement e set next_look_at = clock_timestamp() from ending where e.id = ending.entitlement_id`,
    [request],
  )
}

async function isOneEntitlement(account: string, ...requests: string[]): Promise<void> {
  const rows = await house.asSuperuser('select distinct entitlement_id from access_grant where request_id = any($1)', [
    requests,
  ])
  assert.equal(rows.length, 1)
  assert.equal(await on.heldAt(account), 1)
}

for (const [number, first, second] of [
  ['1', 'an account', 'a permission set'],
  ['2', 'a permission set', 'a unit'],
  ['3', 'a unit', 'an account'],
] as [string, Way, Way][]) {
  test(`${first} and ${second} give one entitlement, which lasts until both grants are revoked (R4)`, async () => {
    const account = await newAccount(`80000000001${number}`)
    const [early, late] = [await given(first, account), await given(second, account)]
    await isOneEntitlement(account, early, late)
    await revoke(early)
    await on.grantsAre(early, 'revoked', 'deprovisioned')
    await on.grantsAre(late, 'active', 'successful')
    assert.equal(await on.heldAt(account), 1)
    await revoke(late)
    await on.grantsAre(late, 'revoked', 'deprovisioned')
    assert.equal(await on.heldAt(account), 0)
  })

  test(`${first}, then ${second}: revoking the second leaves the first (R4)`, async () => {
    const account = await newAccount(`80000000002${number}`)
    const [early, late] = [await given(first, account), await given(second, account)]
    await revoke(late)
    await on.grantsAre(late, 'revoked', 'deprovisioned')
    await on.grantsAre(early, 'active', 'successful')
    assert.equal(await on.heldAt(account), 1)
    await expire(early)
    await on.grantsAre(early, 'expired', 'deprovisioned')
    assert.equal(await on.heldAt(account), 0)
  })
}

test('a second request extends access beyond the first end, and each grant keeps its own end (R4, P17)', async () => {
  const account = await newAccount('800000000050')
  const first = await given('an account', account, { duration_seconds: 600 })
  const [before] = await on.grantsOf(first)
  const second = await given('an account', account, { duration_seconds: 3_600 })
  const [[kept], [longer]] = [await on.grantsOf(first), await on.grantsOf(second)]
  assert.deepEqual(kept?.expires_at, before?.expires_at)
  assert.ok(Date.parse(longer?.expires_at ?? '') > Date.parse(kept?.expires_at ?? ''))
  await expire(first)
  await on.grantsAre(first, 'expired', 'deprovisioned')
  await on.grantsAre(second, 'active', 'successful')
  assert.equal(await on.heldAt(account), 1)
  await expire(second)
  await on.grantsAre(second, 'expired', 'deprovisioned')
  assert.equal(await on.heldAt(account), 0)
})

test('access stays when one grant ends at the moment that another begins (R4)', async () => {
  const account = await newAccount('800000000051')
  const first = await given('an account', account)
  const [second] = await Promise.all([on.ask(ways['a permission set'](account)), expire(first)])
  await on.grantsAre(second, 'active', 'successful')
  await on.grantsAre(first, 'expired', 'deprovisioned')
  assert.equal(await on.heldAt(account), 1)
})

test('revoking a unit ends access on its accounts, except where another grant holds it', async () => {
  const [one, other] = ['800000000060', '800000000061']
  await newAccount(one)
  await on.cache({ [other]: { units: [unit] } })
  const all = await given('a unit', one)
  const held = await given('an account', one)
  await revoke(all)
  await on.grantsAre(all, 'revoked', 'deprovisioned')
  await on.grantsAre(held, 'active', 'successful')
  assert.deepEqual([await on.heldAt(one), await on.heldAt(other)], [1, 0])
})
