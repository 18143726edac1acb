import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, openAwsTarget, patient, quick } from '../../../test/support/aws-stage.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import { ownPrefix } from './own-set.ts'

// Every list has several pages.
const target = await openAwsTarget({ page: 2 })
const { aws, opening, accounts, sets, inputFor } = target
const driver = quick.open(opening)

suite('the accounts', () => {
  const workloads = aws.addUnit(aws.root_id, 'Workloads')
  const [production, staging, empty] = ['Production', 'Staging', 'Empty'].map((name) => aws.addUnit(workloads, name))
  const deep = aws.addUnit(production, 'EU')
  const tags = { team: 'shop', stage: 'production', owner: 'ada' }
  const below = [aws.addAccount('ACTIVE', deep, tags), ...[1, 2, 3].map(() => aws.addAccount('ACTIVE', workloads))]
  for (const status of ['SUSPENDED', 'PENDING_CLOSURE'] as const) aws.addAccount(status, workloads)

  test('that are active are read from every unit, with their tags', async () => {
    const { accounts: found, error } = await inventoryOf(driver, 'accounts')
    assert.equal(error, undefined)
    const known = [aws.management_account, ...accounts, ...below].sort()
    assert.deepEqual(found.map(({ account_id }) => account_id).sort(), known)
    const [nested, ...others] = below.map((id) => found.find(({ account_id }) => account_id === id))
    assert.deepEqual(nested, {
      account_id: below[0],
      name: `account-${below[0]}`,
      tags,
      organizational_unit_ids: [workloads, production, deep],
    })
    for (const one of others) assert.deepEqual([one?.tags, one?.organizational_unit_ids], [{}, [workloads]])
    assert.deepEqual(found.find(({ account_id }) => account_id === accounts[0])?.organizational_unit_ids, [])
  })

  test('come with the units, named by their paths', async () => {
    const { resources } = await inventoryOf(driver, 'accounts')
    const paths = new Map(resources.map((one) => [one.id, one.description]))
    assert.deepEqual(
      [workloads, production, staging, empty, deep].map((id) => paths.get(id ?? '')),
      ['', ' / Production', ' / Staging', ' / Empty', ' / Production / EU'].map((path) => `Workloads${path}`),
    )
    assert.equal(resources.length, 5)
    assert.deepEqual(
      resources.find(({ id }) => id === deep),
      {
        resource_type: 'cloud_organizational_unit',
        id: deep,
        name: 'EU',
        description: 'Workloads / Production / EU',
        account_id: null,
        tags: {},
        facts: {},
      },
    )
  })

  test('and units that leave the organization meanwhile are left out', async () => {
    const leaving = aws.addAccount()
    const end = aws.always(
      { operation: 'ListTagsForResource', when: ({ ResourceId }) => ResourceId === leaving },
      { error: 'TargetNotFoundException' },
    )
    const noUnit = aws.always(
      { operation: 'ListAccountsForParent', when: ({ ParentId }) => ParentId === deep },
      { error: 'ParentNotFoundException' },
    )
    const { accounts: found, error } = await inventoryOf(driver, 'accounts')
    end()
    noUnit()
    assert.equal(error, undefined)
    assert.ok(found.length > 0)
    for (const gone of [leaving, below[0]]) assert.ok(!found.some(({ account_id }) => account_id === gone))
    aws.removeAccount(leaving)
  })
})

suite('the permission sets', () => {
  const AdministratorAccess = 'arn:aws:iam::aws:policy/AdministratorAccess'
  const policies = ['ReadOnlyAccess', 'PowerUserAccess', 'job-function/Billing'].map(
    (name) => `arn:aws:iam::aws:policy/${name}`,
  )
  const root = aws.addPermissionSet('Root', {}, { managed: [...policies, AdministratorAccess], description: 'For all' })
  const billing = aws.addPermissionSet('Billing', {}, { managed: policies })
  aws.addPermissionSet(`${ownPrefix}0123456789abcdef012345`, {}, { managed: [AdministratorAccess] })

  test('of the organization are read, without those that Sallyport made', async () => {
    const { resources, error } = await inventoryOf(driver, 'permission_sets')
    assert.equal(error, undefined)
    assert.deepEqual(resources.map(({ id }) => id).sort(), [root, billing, ...Object.values(sets)].sort())
    assert.deepEqual(
      resources.find(({ id }) => id === root),
      {
        resource_type: 'cloud_permission_set',
        id: root,
        name: 'Root',
        description: 'For all',
        account_id: null,
        tags: {},
        facts: { session_seconds: 3_600, is_administrator: true },
      },
    )
    const other = resources.find(({ id }) => id === billing)
    assert.deepEqual([other?.description, other?.facts.is_administrator], [null, false])
  })
})

suite('the people', () => {
  const ada = aws.addUser('Ada@Example.com', [{ Issuer: 'https://idp.example', Id: 'ada-1' }])
  const others = [1, 2, 3, 4].map((number) => aws.addUser(`user-${number}@example.com`))
  const [developers, nobody, third] = [
    aws.addGroup('Developers', [ada, ...others]),
    aws.addGroup('Nobody'),
    aws.addGroup('Third', [ada]),
  ]

  test('are read with their groups', async () => {
    const { people, groups, error } = await inventoryOf(driver, 'people')
    assert.equal(error, undefined)
    assert.deepEqual(people.map(({ id }) => id).sort(), [ada, ...others].sort())
    assert.deepEqual(
      people.find(({ id }) => id === ada),
      {
        id: ada,
        login: 'ada@example.com',
        name: 'Ada@Example.com',
        external_ids: [{ issuer: 'https://idp.example', id: 'ada-1' }],
      },
    )
    assert.deepEqual(groups, [
      { id: developers, name: 'Developers', member_ids: [ada, ...others] },
      { id: nobody, name: 'Nobody', member_ids: [] },
      { id: third, name: 'Third', member_ids: [ada] },
    ])
  })

  test('’s assignments are read, and the groups’, without those of sets that Sallyport made', async () => {
    const own = aws.addPermissionSet(`${ownPrefix}fedcba9876543210fedcba`)
    const [first, second] = accounts
    for (const one of [...others, developers]) aws.assignByHand(first, sets.ReadOnly, one)
    aws.assignByHand(second, sets.ReadOnly, ada)
    aws.assignByHand(first, own, ada)
    const { assignments, error } = await inventoryOf(driver, 'assignments')
    assert.equal(error, undefined)
    const rows = assignments.map((one) => `${one.account_id} ${one.principal_type} ${one.principal_id}`)
    assert.deepEqual(
      rows.sort(),
      [
        `${first} group ${developers}`,
        ...others.map((id) => `${first} person ${id}`),
        `${second} person ${ada}`,
      ].sort(),
    )
    assert.ok(assignments.every((one) => one.permission_set_arn === sets.ReadOnly))
    assert.ok(assignments.every((one) => (one.principal_type === 'group') === (one.entitlement_key === null)))
  })

  test('’s assignments have the key of the plan that gives the same', async () => {
    const input = inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly')
    const { key } = await driver.plan(noTx, input, patient)
    aws.assignByHand(accounts[0], sets.ReadOnly, input.principal_id)
    const { assignments } = await inventoryOf(driver, 'assignments')
    assert.equal(assignments.find((one) => one.principal_id === input.principal_id)?.entitlement_key, key)
  })
})
