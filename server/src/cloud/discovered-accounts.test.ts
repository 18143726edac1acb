import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { account, type InventoryStage, inventoryStage } from '../../test/support/inventory-stage.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { sliceServer } from '../../test/support/slice-server.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { saveCloudAccounts } from './cloud-account-store.ts'
import { listCloudAccounts } from './list-cloud-accounts.ts'
import { upsertCloudAccounts } from './upsert-cloud-accounts.ts'

const db = await testDatabase()
const call = await sliceServer(db.database, { listCloudAccounts, upsertCloudAccounts })
let stage: InventoryStage

beforeEach(async () => {
  stage = await inventoryStage(db)
})

async function discover(...accounts: ReturnType<typeof account>[]): Promise<void> {
  stage.said.pages = { accounts: [{ accounts }] }
  await stage.read('accounts')
}

const as = () => ({
  ...{ tenant_id: stage.tenant_id, user_id: newId(), kind: 'api_key' as const },
  scopes: ['cloud_accounts:read', 'cloud_accounts:write'],
})

async function write(...resources: object[]): Promise<void> {
  assert.equal((await call(as(), 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
}

async function entries(): Promise<string[]> {
  const { body } = await call(as(), 'GET', '/v1/cloud/accounts')
  return (body.data as Record<string, unknown>[])
    .map(({ id, name, account_id, metadata }) => `${id} ${name} ${account_id} ${JSON.stringify(metadata)}`)
    .sort()
}

const events = async () =>
  (
    await db.asSuperuser<{ data: object }>(
      `select data from event where tenant_id = $1 and type = 'cloud_accounts.discovered' order by seq`,
      [stage.tenant_id],
    )
  ).map(({ data }) => data)

const [one, two, three] = ['111111111111', '222222222222', '333333333333'] as const

test('accounts come, change and go with the organization, and an event says so', async () => {
  const unit = 'ou-ab12-12345678'
  await discover(account(one, 'One', { env: 'prod' }, [unit]), account(two, 'Two'))
  await discover(account(one, 'One', { env: 'dev' }, [unit]), account(three, 'Three'))
  // A walk misses an account that is moved meanwhile: it stays until a second one does not see it either.
  assert.ok((await entries()).includes(`${two} Two ${two} {}`))
  await discover(account(one, 'One', { env: 'dev' }, [unit]), account(three, 'Three'))
  assert.deepEqual(await entries(), [
    `${one} One ${one} {"env":"dev","organizational_unit_ids":["${unit}"]}`,
    `${three} Three ${three} {}`,
  ])
  const { provisioner_id } = stage
  assert.deepEqual(await events(), [
    { provisioner_id, added: 2, changed: 0, removed: 0, ids: [one, two] },
    { provisioner_id, added: 1, changed: 1, removed: 0, ids: [one, three] },
    { provisioner_id, added: 0, changed: 0, removed: 1, ids: [two] },
  ])
})

test('an entry of the tenant’s own is never changed, nor doubled, whether it has the id or the number', async () => {
  await write({ id: one, account_id: 'other', name: 'Mine' }, { id: 'prod', account_id: two, name: 'Prod' })
  await discover(account(one, 'One'), account(two, 'Two'))
  assert.deepEqual(await entries(), [`${one} Mine other {}`, `prod Prod ${two} {}`])
  assert.deepEqual(await events(), [])
})

test('writing a discovered entry makes it the tenant’s own', async () => {
  await discover(account(one, 'One'))
  await write({ id: one, account_id: one, name: 'Mine' })
  await discover(account(one, 'Renamed'))
  await discover()
  assert.deepEqual(await entries(), [`${one} Mine ${one} {}`])
})

test('a discovered entry gives way to one of the tenant’s own with its number', async () => {
  await discover(account(one, 'One'), account(two, 'Two'))
  await write({ id: 'mine', account_id: one, name: 'Mine' })
  assert.deepEqual(await entries(), [`${two} Two ${two} {}`, `mine Mine ${one} {}`])
  await discover(account(one, 'One'), account(two, 'Two'))
  assert.deepEqual(await entries(), [`${two} Two ${two} {}`, `mine Mine ${one} {}`])
})

test('an entry that is written by hand during a discovery is the only one of its account', async () => {
  await discover(account(one, 'One', { env: 'dev' }))
  stage.said.pages = { accounts: [{ accounts: [account(one, 'One', { env: 'test' })] }] }
  const item = await stage.claim('accounts')
  let discovery = Promise.resolve()
  await stage.tx.interactive(async (tx) => {
    const mine = { id: 'mine', account_id: one, name: 'Prod', metadata: { env: 'prod' }, rank: 0 }
    await saveCloudAccounts({ tx, actor: systemActor, request_id: 'put' }, [mine])
    discovery = stage.run(item)
    await aLockIsWaitedFor(db, tx)
  })
  await discovery
  assert.deepEqual(await entries(), [`mine Prod ${one} {"env":"prod"}`])
})

test('the entries of another provisioner’s inventory stay', async () => {
  await discover(account(one, 'One'))
  const other = await stage.addProvisioner()
  stage.said.pages = { accounts: [{ accounts: [account(one, 'Another'), account(two, 'Two')] }] }
  await stage.run(await stage.claim('accounts', other))
  stage.said.pages = { accounts: [{}] }
  for (const _ of ['missed', 'gone']) await stage.run(await stage.claim('accounts', other))
  assert.deepEqual(await entries(), [`${one} One ${one} {}`])
})

test('odd and oversized tags and units are left out', async () => {
  const long = (length: number) => 'x'.repeat(length)
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`many${index}`, long(250)]))
  const tags = {
    ok: 'yes',
    __proto: 'no',
    organizational_unit_ids: 'no',
    nul: 'a\0b',
    half: '\ud800',
    long: long(257),
    [long(129)]: 'no',
    '': 'no',
  }
  await discover(account(one, 'One\n\u202e', { ...tags, ...many }, ['r-ab12', 'ou-ab12-12345678', 'ou-ab12-12345678']))
  const [row] = await db.asSuperuser<{ name: string; metadata: Record<string, unknown>; size: number }>(
    'select name, metadata, octet_length(metadata::text) as size from cloud_account where tenant_id = $1',
    [stage.tenant_id],
  )
  assert.ok(row)
  assert.equal(row.name, 'One')
  assert.deepEqual(row.metadata.organizational_unit_ids, ['ou-ab12-12345678'])
  const kept = Object.keys(row.metadata).filter((key) => !key.startsWith('many'))
  assert.deepEqual(kept.sort(), ['ok', 'organizational_unit_ids'])
  assert.ok(row.size > 14_000 && row.size <= 17_000, `${row.size} bytes`)
})
