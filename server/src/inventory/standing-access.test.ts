import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { readCsv } from '../../test/support/described.ts'
import {
  account,
  holds,
  type InventoryStage,
  inventoryStage,
  permissionSet,
  person,
  sayingTypes,
  saysNothing,
  setArn,
} from '../../test/support/inventory-stage.ts'
import { type Caller, sliceServer } from '../../test/support/slice-server.ts'
import { newId } from '../kernel/id.ts'
import { exportStandingAccess } from './export-standing-access.ts'
import { listStandingAccess } from './list-standing-access.ts'
import type { StandingAccess } from './standing-access.ts'

const db = await testDatabase()
let stage: InventoryStage
let by: Caller
let url: string
const said = saysNothing()
const types = sayingTypes(said)
const call = await sliceServer(db.database, {
  listStandingAccess: listStandingAccess(types),
  exportStandingAccess: exportStandingAccess(types),
})

const [prod, dev] = ['111111111111', '222222222222'] as const

beforeEach(async () => {
  stage = await inventoryStage(db, Object.assign(said, saysNothing()))
  by = { tenant_id: stage.tenant_id, user_id: newId(), scopes: ['provisioners:read'] }
  url = `/v1/provisioners/${stage.provisioner_id}/standing-access`
  said.pages = {
    accounts: [{ accounts: [account(prod, 'Production'), account(dev, 'Playground')] }],
    permission_sets: [{ resources: [permissionSet('Admin', { is_administrator: true }), permissionSet('Read')] }],
    people: [
      { people: [person('u1', 'ada@example.com', 'Ada'), person('u2', 'ben@example.com', 'Ben')] },
      {
        groups: [
          { id: 'g1', name: 'Engineers', member_ids: ['u1', 'u2', 'u9'] },
          { id: 'g2', name: 'Nobody', member_ids: [] },
        ],
      },
    ],
    assignments: [
      {
        assignments: [
          holds(prod, 'Admin', 'person', 'u1'),
          holds(prod, 'Read', 'group', 'g1'),
          holds(dev, 'Admin', 'group', 'g2'),
          holds(dev, 'Other', 'person', 'u8'),
        ],
      },
    ],
  }
})

const readAll = () => stage.read('accounts', 'permission_sets', 'people', 'assignments')

async function list(query = '', limit = 2): Promise<StandingAccess[]> {
  const rows: StandingAccess[] = []
  for (let cursor = '', pages = 1; ; pages += 1) {
    assert.ok(pages < 1_000, 'the list ends')
    const { status, body } = await call(by, 'GET', `${url}?limit=${limit}${query}${cursor}`)
    assert.equal(status, 200, JSON.stringify(body))
    rows.push(...(body.data as StandingAccess[]))
    if (body.has_more !== true) return rows
    cursor = `&cursor=${body.next_cursor}`
  }
}

const line = ({ account, permission_set, holder, via_group }: StandingAccess) =>
  `${holder.name} ${permission_set.name} ${account.name}${via_group === null ? '' : ` by ${via_group.name}`}`

const lines = async (query = '') => (await list(query)).map(line)

const byAccount = [
  'Ada Admin Production',
  'Ada Read Production by Engineers',
  'Ben Read Production by Engineers',
  'u9 Read Production by Engineers',
  'Nobody Admin Playground',
  `u8 ${setArn('Other')} Playground`,
]

test('access is listed by account, each member of a group, and a group without members', async () => {
  await readAll()
  assert.deepEqual(await lines(), byAccount)
  const rows = await list()
  assert.deepEqual(rows[1], {
    account: { id: prod, name: 'Production' },
    permission_set: { id: setArn('Read'), name: 'Read', is_administrator: false },
    holder: { type: 'person', id: 'u1', name: 'Ada', login: 'ada@example.com' },
    via_group: { id: 'g1', name: 'Engineers' },
    user_id: null,
    grant_id: null,
  })
  assert.deepEqual(rows[4]?.holder, { type: 'group', id: 'g2', name: 'Nobody', login: null })
  assert.equal(rows[5]?.permission_set.is_administrator, null, 'a set that is not listed')
})

test('access is listed by person, also of those whom the directory does not know', async () => {
  await readAll()
  assert.deepEqual(await lines('&order=person'), [
    'Ada Admin Production',
    'Ada Read Production by Engineers',
    'Ben Read Production by Engineers',
    'Nobody Admin Playground',
    `u8 ${setArn('Other')} Playground`,
    'u9 Read Production by Engineers',
  ])
})

suite('a filter', () => {
  const filters: [string, string, string[]][] = [
    ['account', `&account_id=${dev}`, byAccount.slice(4)],
    ['person', '&person_id=u1', byAccount.slice(0, 2)],
    ['nobody', '&person_id=u7', []],
    ['set by name', '&permission_set=Read', byAccount.slice(1, 4)],
    ['set by id', `&permission_set=${encodeURIComponent(setArn('Admin'))}`, [byAccount[0] ?? '', byAccount[4] ?? '']],
    ['set that is not listed', `&permission_set=${encodeURIComponent(setArn('Other'))}`, byAccount.slice(5)],
    ['no set', '&permission_set=None', []],
    ['administrators', '&administrators=true', [byAccount[0] ?? '', byAccount[4] ?? '']],
    ['words of the holder', '&q=ben', [byAccount[2] ?? '']],
    ['words of the login', '&q=ada%40exam', byAccount.slice(0, 2)],
    ['words of the group', '&q=engin', byAccount.slice(1, 4)],
    ['words of several', '&q=ada%20prod%20read', [byAccount[1] ?? '']],
    ['words and a set', '&q=ada&permission_set=Admin', [byAccount[0] ?? '']],
  ]
  for (const [name, query, expected] of filters) {
    test(`by ${name}`, async () => {
      await readAll()
      assert.deepEqual(await lines(query), expected)
      assert.deepEqual((await lines(`${query}&order=person`)).sort(), [...expected].sort())
    })
  }
})

test('a page goes on where the one before ended, in every order, with every filter', async () => {
  const ids = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index}`)
  const [people, groups, sets] = [ids('u', 20), ids('g', 6), ids('s', 3)]
  const accounts = ids('11111111111', 8)
  // Many share a name.
  const members = groups.map((id, index) => ({
    id,
    name: 'Team',
    member_ids: people.filter((_, at) => at % 6 < index),
  }))
  const assignments = accounts.flatMap((on, a) =>
    sets.flatMap((set, s) => [
      ...groups.filter((_, g) => (a + s + g) % 3 === 0).map((group) => holds(on, set, 'group', group)),
      ...people.filter((_, p) => (a * s + p) % 7 === 0).map((one) => holds(on, set, 'person', one)),
    ]),
  )
  said.pages = {
    people: [{ people: people.map((id, index) => person(id, `${id}@x.com`, `Name ${index % 3}`)), groups: members }],
    permission_sets: [{ resources: sets.map((id) => permissionSet(id, { is_administrator: id === 's1' })) }],
    assignments: [{ assignments }],
  }
  await readAll()
  const expected = assignments.flatMap(({ account_id, permission_set_arn, principal_type, principal_id }) => {
    const where = `${account_id} ${permission_set_arn}`
    if (principal_type === 'person') return [`${where} ${principal_id}`]
    const { member_ids = [] } = members.find(({ id }) => id === principal_id) ?? {}
    if (member_ids.length === 0) return [`${where} ${principal_id}`]
    return member_ids.map((id) => `${where} ${id} ${principal_id}`)
  })
  const key = ({ account, permission_set, holder, via_group }: StandingAccess) =>
    [account.id, permission_set.id, holder.id, via_group?.id].filter((part) => part !== undefined).join(' ')
  const kept: [string, (row: string) => boolean][] = [
    ['', () => true],
    ['&permission_set=s2', (row) => row.includes('ps-s2 ')],
    ['&administrators=true', (row) => row.includes('ps-s1 ')],
    [`&account_id=${accounts[3]}`, (row) => row.startsWith(`${accounts[3]} `)],
    ['&q=u1', (row) => / u1/.test(row)],
  ]
  for (const [query, keeps] of kept) {
    for (const order of ['', '&order=person']) {
      const found = (await list(query + order, 7)).map(key)
      assert.deepEqual(found.toSorted(), expected.filter(keeps).toSorted(), query + order)
    }
  }
  const accountsInOrder = (await list('', 50)).map(({ account: { id } }) => id)
  assert.deepEqual(accountsInOrder, accountsInOrder.toSorted())
  const namesInOrder = (await list('&order=person', 50)).map(({ holder: { name } }) => name)
  assert.deepEqual(namesInOrder, namesInOrder.toSorted())
})

test('who is behind many that a page may not read at once is found on a later one', async () => {
  const many = Array.from({ length: 1_100 }, (_, index) => `m${String(index).padStart(4, '0')}`)
  said.pages.people = [{ people: many.map((id) => person(id, `${id}@example.com`, id)) }]
  const [lastPerson = ''] = many.slice(-1)
  said.pages.assignments = [
    { assignments: many.map((id) => holds(id, 'Read', 'group', 'g1')) },
    { assignments: [holds('zzz', 'Admin', 'person', lastPerson), holds('zzz', 'Admin', 'person', 'm0098')] },
  ]
  await readAll()
  // The last person that the first page reads.
  const found = ['m0098 Admin zzz', `${lastPerson} Admin zzz`]
  assert.deepEqual(await lines('&administrators=true'), found)
  assert.deepEqual(await lines('&administrators=true&order=person'), found)
  assert.deepEqual(await lines('&permission_set=Admin&order=person'), found)
  const rows = (await list('&order=person', 200)).map(line)
  assert.deepEqual([rows.length, rows.at(-1)], [1_102, found[1]])
})

test('a holder is the user whom the target takes for them, and access is a grant’s where a live one gives it', async () => {
  const user_id = newId()
  await db.asSuperuser(
    `insert into tenant_user (tenant_id, id, name, email, email_key, auth_provider)
      values ($1, $2, 'Ada', 'Ada@example.com', 'ada@example.com', 'local')`,
    [stage.tenant_id, user_id],
  )
  await readAll()
  const grant_id = await give(user_id, JSON.stringify([prod, 'Admin', 'u1']))
  const found = async () => (await list('&person_id=u1')).map((row) => [row.user_id, row.grant_id])
  assert.deepEqual(await found(), [
    [user_id, grant_id],
    [user_id, null],
  ])
  await db.asSuperuser('update entitlement set held_before = true where tenant_id = $1', [stage.tenant_id])
  assert.deepEqual((await found())[0], [user_id, null], 'it was there before')
})

/** A live grant with its entitlement. */
async function give(user_id: string, target_key: string): Promise<string> {
  const [request_id, entitlement_id, id] = [newId(), newId(), newId()]
  await db.asSuperuser(
    `insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status, approval_mode,
        break_glass, duration_seconds, metadata, audit_session, places, asked_via, source_ip)
      values ($1, $2, $3, 'cloud_account', '1', 'Admin', 'approved', 'auto', false,
        60, '{}', false, '[]', 'token', '::1')`,
    [stage.tenant_id, request_id, user_id],
  )
  await db.asSuperuser(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before)
      values ($1, $2, 'aws-identity-center', $3, '{}', false)`,
    [stage.tenant_id, entitlement_id, target_key],
  )
  await db.asSuperuser(
    `insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
        duration_seconds, status, provisioning_status, entitlement_id, activate_by)
      values ($1, $2, $3, $4, 'g', 'cloud_account', '1', 'Admin', 60, 'pending', 'not_attempted', $5, '2100-01-01Z')`,
    [stage.tenant_id, id, request_id, user_id, entitlement_id],
  )
  return id
}

test('the export is a table of the same rows', async () => {
  const formula = '=HYPERLINK("https://evil.example","x")'
  said.pages.people = [{ people: [person('u1', '@ada', formula)] }]
  await readAll()
  const { status, text = '' } = await call(by, 'GET', `${url}/export?account_id=${prod}`)
  assert.equal(status, 200)
  assert.ok(text.startsWith('account_id,account,permission_set,administrator,holder_type,holder,login,'))
  assert.ok(text.endsWith('\r\n'))
  assert.deepEqual(
    readCsv(text).map(({ holder, login, administrator, permission_set }) => [
      holder,
      login,
      administrator,
      permission_set,
    ]),
    [
      [`'${formula}`, "'@ada", 'yes', 'Admin'],
      ['g1', '', 'no', 'Read'],
    ],
  )
  assert.equal((await call(by, 'GET', `/v1/provisioners/${newId()}/standing-access/export`)).status, 404)
})
