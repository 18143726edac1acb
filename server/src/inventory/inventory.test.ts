import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import {
  account,
  holds,
  type InventoryStage,
  inventoryStage,
  permissionSet,
  person,
  sayingTypes,
  saysNothing,
} from '../../test/support/inventory-stage.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { sql } from '../db/sql.ts'
import { emailKey } from '../kernel/email-address.ts'
import { newId } from '../kernel/id.ts'
import { inventoryParts } from '../provisioners/target-inventory.ts'
import { loginOf, type UserLookup } from '../provisioners/user-lookup.ts'
import { getInventory } from './get-inventory.ts'
import { type Inventory, mergeCounts, noCounts, type PartCounts, type UnmatchedUser } from './inventory.ts'
import { listUnmatchedUsers } from './list-unmatched-users.ts'
import { refreshInventory } from './refresh-inventory.ts'
import { isUnmatched } from './user-match-store.ts'

const db = await testDatabase()
let stage: InventoryStage
let by: Caller
let url: string

const said = saysNothing()
const types = sayingTypes(said)
const call = await sliceServer(db.database, {
  getInventory: getInventory(types),
  refreshInventory: refreshInventory(types),
  listUnmatchedUsers: listUnmatchedUsers(types),
})

beforeEach(async () => {
  stage = await inventoryStage(db, Object.assign(said, saysNothing()))
  by = { tenant_id: stage.tenant_id, user_id: newId(), scopes: ['provisioners:read', 'provisioners:write'] }
  url = `/v1/provisioners/${stage.provisioner_id}`
})

async function get(): Promise<Inventory> {
  const { status, body } = await call(by, 'GET', `${url}/inventory`)
  assert.equal(status, 200)
  return body as Inventory
}

async function unmatched(): Promise<string[]> {
  const { status, body } = await call(by, 'GET', `${url}/unmatched-users`)
  assert.equal(status, 200)
  return (body.data as UnmatchedUser[]).map(({ name, looked_for, why }) => `${name} ${looked_for} ${why}`)
}

const addUser = (name: string, email: string, more: Record<string, unknown> = {}) => {
  const row = { tenant_id: stage.tenant_id, id: newId(), name, email, email_key: emailKey(email), ...more }
  const all = { auth_provider: 'local', ...row }
  const names = Object.keys(all)
  return db.asSuperuser(
    `insert into tenant_user (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(all),
  )
}

test('the summary says what was read, what it counts, and which sessions outlive grants', async () => {
  const before = await get()
  assert.deepEqual(before.counts, noCounts)
  assert.equal(before.unmatched_users, null)
  assert.deepEqual(before.parts.map(({ part }) => part).sort(), [...inventoryParts].sort())
  assert.ok(before.parts.every(({ finished_at, reading, next_at }) => finished_at === null && !reading && next_at))
  stage.said.pages = {
    accounts: [{ accounts: [account('111111111111', 'Prod')] }],
    permission_sets: [
      {
        resources: [permissionSet('Admin', { is_administrator: true, session_seconds: 43_200 }), permissionSet('Read')],
      },
    ],
    people: [{ people: [person('ada', 'ada@example.com')], groups: [{ id: 'g', name: 'G', member_ids: ['ada'] }] }],
    assignments: [
      {
        assignments: [
          holds('111111111111', 'Admin', 'person', 'ada'),
          holds('111111111111', 'Admin', 'group', 'g'),
          holds('111111111111', 'Read', 'group', 'g'),
        ],
      },
    ],
  }
  await stage.read('accounts', 'assignments', 'people')
  assert.equal((await get()).counts.administrators, null, 'nobody knows yet which sets make administrators')
  await stage.read('permission_sets', 'databases')
  const { counts, unmatched_users, longest_grant_seconds, long_sessions, parts } = await get()
  assert.deepEqual(counts, {
    ...{ accounts: 1, organizational_units: 0, permission_sets: 2, databases: 0, people: 1, groups: 1 },
    ...{ assignments: 3, administrators: 1 },
  })
  assert.deepEqual([unmatched_users, longest_grant_seconds], [0, 28_800])
  assert.deepEqual(
    long_sessions.map(({ name, session_seconds }) => [name, session_seconds]),
    [['Admin', 43_200]],
  )
  assert.ok(parts.every(({ finished_at, error }) => finished_at !== null && error === null))
})

test('a part that is being read says so, and a refresh leaves it', async () => {
  await stage.read('accounts', 'people')
  await stage.claim('people')
  const { status, body } = await call(by, 'POST', `${url}/inventory/refresh`)
  assert.equal(status, 202)
  const { parts } = body as Inventory
  const part = (name: string) => parts.find((one) => one.part === name)
  assert.deepEqual([part('people')?.reading, part('people')?.next_at], [true, null])
  assert.ok(Date.parse(part('accounts')?.next_at ?? '') <= Date.now() + 5_000)
})

test('a provisioner of another type has no parts, and one of nobody’s is not found', async () => {
  const id = newId()
  await db.asSuperuser(
    `insert into provisioner (tenant_id, id, name, provisioner_type) values ($1, $2, 'db', 'postgresql')`,
    [stage.tenant_id, id],
  )
  url = `/v1/provisioners/${id}`
  const { parts, unmatched_users } = await get()
  assert.deepEqual([parts, unmatched_users], [[], null])
  assert.deepEqual(await unmatched(), [])
  for (const path of ['inventory', 'unmatched-users'])
    assert.equal((await call(by, 'GET', `/v1/provisioners/${newId()}/${path}`)).status, 404)
  assert.equal((await call(by, 'POST', `/v1/provisioners/${newId()}/inventory/refresh`)).status, 404)
})

test('users whom the directory does not have are listed; not those who cannot have access, and nobody before it was read', async () => {
  await addUser('Ada', 'Ada@Example.com')
  await addUser('Ben', 'ben@example.com')
  await addUser('Cleo', 'cleo@example.com', { active: false })
  await addUser('Dan', 'dan@demo.invalid', { rehearsal: 'dan' })
  stage.said.pages = { people: [{ people: [person('1', 'ADA@example.com')] }] }
  assert.deepEqual(await unmatched(), [])
  await stage.read('people')
  assert.deepEqual(await unmatched(), ['Ben ben@example.com not_in_directory'])
  assert.equal((await get()).unmatched_users, 1)
})

test('a user is found by the external id, or by the local part at the one domain', async () => {
  stage.said.lookup = { external_id_issuer: 'okta', email_domain: 'example.com' }
  const sub = { auth_provider: 'oidc', issuer: 'https://id.example.com' }
  await addUser('Ada', 'ada@example.com')
  await addUser('Ben', 'ben@elsewhere.com')
  await addUser('Cleo', 'cleo@elsewhere.com', { ...sub, subject: 'cleo-1' })
  await addUser('Dan', 'dan@example.com', { ...sub, subject: 'dan-1' })
  await addUser('Eve', 'eve@example.com')
  const external_ids = [
    { issuer: 'another', id: 'dan-1' },
    { issuer: 'okta', id: 'cleo-1' },
  ]
  stage.said.pages = {
    people: [{ people: [person('1', 'ada'), { ...person('2', 'cc'), external_ids }, person('3', 'eve@example.com')] }],
  }
  await stage.read('people')
  assert.deepEqual(await unmatched(), [
    'Ben ben@elsewhere.com other_domain',
    'Dan dan not_in_directory',
    'Eve eve not_in_directory',
  ])
})

suite('the driver and the list look for the same login', () => {
  const whole: UserLookup = { external_id_issuer: null, email_domain: null }
  const local: UserLookup = { external_id_issuer: null, email_domain: 'Example.com' }
  const pairs: [string, string, UserLookup, boolean][] = [
    ['ada@example.com', 'ada@example.com', whole, true],
    ['Ada@Example.COM', 'ada@example.com', whole, true],
    ['ada@example.com', 'ada', whole, false],
    ['ada@example.com', 'ada', local, true],
    ['ADA@EXAMPLE.COM', 'ada', local, true],
    ['ada@example.com', 'ada@example.com', local, false],
    ['ada@sub.example.com', 'ada', local, false],
    ['ada@notexample.com', 'ada', local, false],
    ['ada@notexample.com', 'ada@no', local, false],
    ['ada@exbmple.com', 'ada', local, false],
    ['a.b+c@example.com', 'a.b+c', local, true],
    ['zoë@example.com', 'ZOË', local, true],
  ]
  for (const [email, login, lookup, expected] of pairs) {
    test(`${email} as ${login}${lookup.email_domain === null ? '' : ' by local part'}: ${expected}`, async () => {
      const looked = loginOf(email, lookup)
      assert.equal(looked !== undefined && emailKey(looked) === emailKey(login), expected, 'the driver')
      stage.said.lookup = lookup
      stage.said.pages = { people: [{ people: [person('1', login)] }] }
      await stage.read('people')
      await addUser('Ada', email)
      const rows = await stage.tx.read(sql<{ unmatched: boolean }>`select
        ${isUnmatched(stage.tx, stage.provisioner_id, sql`r`, lookup)} as unmatched
        from tenant_user r where r.tenant_id = ${stage.tenant_id}`)
      assert.deepEqual(rows, [{ unmatched: !expected }], 'the list')
    })
  }
})

suite('how many people are administrators', () => {
  const read = (part: PartCounts['part'], finished_at: string | null, counts: PartCounts['counts']): PartCounts => ({
    part,
    finished_at,
    counts,
  })
  const sets = read('permission_sets', '2026-01-01T02:00:00.000Z', { permission_sets: 1, administrators: 4 })
  const people = read('people', '2026-01-01T03:00:00.000Z', { people: 1, groups: 1, administrators: 5 })
  const assignments = read('assignments', '2026-01-01T01:00:00.000Z', { assignments: 1, administrators: 3 })
  test('the last one to be read says it', () =>
    assert.equal(mergeCounts([sets, people, assignments]).administrators, 5))
  test('as long as one was never read, nobody does', () =>
    assert.equal(mergeCounts([sets, people, read('assignments', null, null)]).administrators, null))
})
