import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import {
  account,
  holds,
  type InventoryStage,
  inventoryStage,
  permissionSet,
  person,
} from '../../test/support/inventory-stage.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../kernel/id.ts'
import { inventoryParts } from '../provisioners/target-inventory.ts'

const db = await testDatabase()
let stage: InventoryStage

beforeEach(async () => {
  stage = await inventoryStage(db)
})

const rows = (table: string, columns: string) =>
  db.asSuperuser(`select ${columns} from ${table} where tenant_id = $1 order by ${columns}`, [stage.tenant_id])

function sayAll() {
  stage.said.pages = {
    accounts: [{}, { accounts: [account('111111111111', 'Prod', { env: 'prod' })] }],
    permission_sets: [{ resources: [permissionSet('Admin', { is_administrator: true }), permissionSet('Read')] }],
    people: [
      { groups: [{ id: 'g1', name: 'Engineers', member_ids: ['ada', 'eve'] }] },
      { people: [person('ada', 'ada@example.com'), person('ben', 'ben@example.com')] },
    ],
    assignments: [
      { assignments: [holds('111111111111', 'Admin', 'group', 'g1')] },
      { assignments: [holds('111111111111', 'Read', 'person', 'ben'), holds('111111111111', 'Admin', 'group', 'g9')] },
    ],
  }
}

test('a run keeps what its pages say, and counts it', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  assert.deepEqual(await rows('inventory_group_member', 'group_id, person_id'), [
    { group_id: 'g1', person_id: 'ada' },
    { group_id: 'g1', person_id: 'eve' },
  ])
  // The directory has no Eve and no g9.
  assert.deepEqual(await rows('inventory_person', 'id, login'), [
    { id: 'ada', login: 'ada@example.com' },
    { id: 'ben', login: 'ben@example.com' },
    { id: 'eve', login: null },
  ])
  assert.deepEqual(await rows('inventory_group', 'id, name, known'), [
    { id: 'g1', name: 'Engineers', known: true },
    { id: 'g9', name: 'g9', known: false },
  ])
  assert.deepEqual((await stage.partOf('accounts')).counts, { accounts: 1, organizational_units: 0 })
  assert.deepEqual((await stage.partOf('people')).counts, { people: 2, groups: 1, administrators: 0 })
  assert.deepEqual((await stage.partOf('assignments')).counts, { assignments: 3, administrators: 2 })
})

test('the next run removes what it does not see any more', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  stage.said.pages = {
    people: [{ people: [person('ada', 'ada@example.com')] }],
    assignments: [{ assignments: [holds('111111111111', 'Read', 'person', 'ben')] }],
  }
  await stage.read('permission_sets', 'people')
  assert.deepEqual(await rows('inventory_resource', 'resource_type, id'), [
    { resource_type: 'cloud_account', id: '111111111111' },
  ])
  assert.deepEqual(await rows('inventory_group_member', 'group_id'), [])
  // Ben and the groups still have access, and the directory no longer knows them.
  assert.deepEqual(await rows('inventory_person', 'id, login'), [
    { id: 'ada', login: 'ada@example.com' },
    { id: 'ben', login: null },
  ])
  assert.deepEqual(await rows('inventory_group', 'id, name, known'), [
    { id: 'g1', name: 'Engineers', known: false },
    { id: 'g9', name: 'g9', known: false },
  ])
  await stage.read('assignments', 'people', 'accounts')
  await stage.read('accounts')
  assert.deepEqual(await rows('standing_access', 'principal_id'), [{ principal_id: 'ben' }])
  assert.deepEqual(await rows('inventory_group', 'id'), [])
  assert.deepEqual(await rows('inventory_resource', 'id'), [])
  assert.deepEqual(await rows('cloud_account', 'id'), [])
})

test('a run that lost its lease writes nothing', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  const before = await rows('standing_access', 'principal_id, run')
  stage.said.pages = { assignments: [{}, { assignments: [holds('111111111111', 'Read', 'person', 'eve')] }] }
  const item = await stage.claim('assignments')
  stage.said.meanwhile = async (_part, page) => {
    if (page === 1)
      await db.asSuperuser('update inventory_part set generation = generation + 1 where id = $1', [item.id])
  }
  await stage.run(item)
  assert.deepEqual(await rows('standing_access', 'principal_id, run'), before)
  assert.deepEqual(await rows('inventory_person', 'id'), [{ id: 'ada' }, { id: 'ben' }, { id: 'eve' }])
})

test('a lease that is lost after the last page removes nothing, changes no account, and does not end the next run', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  const { finished_at } = await stage.partOf('accounts')
  const item = await stage.claim('accounts')
  stage.said.pages = { accounts: [{}, {}] }
  stage.said.meanwhile = async () => {
    await db.asSuperuser('update inventory_part set generation = generation + 1 where id = $1', [item.id])
  }
  await stage.run(item)
  assert.deepEqual(await rows('cloud_account', 'id'), [{ id: '111111111111' }])
  assert.deepEqual((await rows('inventory_resource', 'id')).length, 3)
  const part = await stage.partOf('accounts')
  assert.deepEqual(part.finished_at, finished_at)
  assert.notEqual(part.lease_until, null, 'the lease of the next run')
})

test('deleting the provisioner deletes its inventory, and the accounts that it found stay as the tenant’s own', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  await db.asSuperuser('delete from provisioner where id = $1', [stage.provisioner_id])
  for (const table of [
    'inventory_part',
    'inventory_resource',
    'inventory_person',
    'inventory_group',
    'standing_access',
  ])
    assert.deepEqual(await rows(table, 'provisioner_id'), [], table)
  assert.deepEqual(await rows('cloud_account', 'id, discovered_by'), [{ id: '111111111111', discovered_by: null }])
})

test('another tenant sees and writes none of it', async () => {
  sayAll()
  await stage.read(...inventoryParts)
  const other = newId()
  await db.asSuperuser('insert into tenant (id, name) values ($1, $2)', [other, 'Other'])
  const tx = db.database.tenant(other)
  assert.deepEqual(await tx.read(sql`select id from inventory_part`), [])
  assert.deepEqual(await tx.read(sql`select id from inventory_resource`), [])
  assert.deepEqual(await tx.read(sql`select id from inventory_person`), [])
  assert.deepEqual(await tx.read(sql`select id from inventory_group`), [])
  assert.deepEqual(await tx.read(sql`select group_id from inventory_group_member`), [])
  assert.deepEqual(await tx.read(sql`select account_id from standing_access`), [])
})
