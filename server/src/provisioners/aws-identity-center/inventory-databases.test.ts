import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openAwsTarget, quick } from '../../../test/support/aws-stage.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import { TargetError } from '../driver.ts'

const inventory_role = 'sallyport-inventory'
const right = ['rds:DescribeDBInstances']

/** An organization of that many accounts, each with a database; `readable`: those of them that have the role. */
async function databases(count: number, readable = (_place: number) => true) {
  const target = await openAwsTarget({ page: 2 }, { inventory_role })
  const { aws, opening, external_id } = target
  const accounts = Array.from({ length: count }, () => aws.addAccount())
  const arns = accounts.map((account) => aws.addDatabase(account, 'orders'))
  const allow = (account: string, actions: readonly string[] = right) =>
    aws.addRole(external_id, actions, account, inventory_role)
  for (const [place, account] of accounts.entries()) if (readable(place)) allow(account)
  for (const account of [aws.management_account, ...target.accounts]) allow(account)
  return { ...target, accounts, arns, allow, driver: quick.open(opening) }
}

suite('the databases', () => {
  test('of every active account are read, with all pages', async () => {
    const { aws, driver, accounts, arns } = await databases(3)
    const [first = ''] = accounts
    const more = Array.from({ length: 5 }, (_, place) => aws.addDatabase(first, `more-${place}`))
    const closed = aws.addAccount('SUSPENDED')
    aws.addDatabase(closed, 'closed')
    const tagged = aws.addDatabase(first, 'tagged', { engine: 'aurora-mysql', tags: new Map([['team', 'shop']]) })
    const creating = aws.addDatabase(first, 'creating', { host: null })
    const { resources, error } = await inventoryOf(driver, 'databases')
    assert.equal(error, undefined)
    assert.deepEqual(resources.map(({ id }) => id).sort(), [...arns, ...more, tagged, creating].sort())
    const { facts, ...rest } = resources.find(({ id }) => id === tagged) ?? { facts: undefined }
    assert.deepEqual(rest, {
      resource_type: 'cloud_db_instance',
      id: tagged,
      name: 'tagged',
      description: null,
      account_id: first,
      tags: { team: 'shop' },
    })
    const { host, resource_id, ...others } = facts ?? {}
    assert.deepEqual(others, { engine: 'aurora-mysql', port: 5432 })
    assert.match(`${host}`, /^tagged\./)
    assert.match(`${resource_id}`, /^db-/)
    assert.deepEqual(Object.keys(resources.find(({ id }) => id === creating)?.facts ?? {}).sort(), [
      'engine',
      'resource_id',
    ])
  })

  test('are read in the regions of the config', async () => {
    const { aws, opening, accounts } = await databases(1)
    const [account = ''] = accounts
    const far = ['eu-west-1', 'us-east-1'].map((region) => aws.addDatabase(account, 'far', { region }))
    aws.addDatabase(account, 'elsewhere', { region: 'eu-west-2' })
    const inventory_regions = ['eu-west-1', 'us-east-1']
    const driver = quick.open({ ...opening, config: { ...opening.config, inventory_regions } })
    const { resources } = await inventoryOf(driver, 'databases')
    assert.deepEqual(resources.map(({ id }) => id).sort(), far)
    const assumed = aws.entries('AssumeRole').filter(({ input, outcome }) => {
      return outcome === 'ok' && input.RoleArn === `arn:aws:iam::${account}:role/${inventory_role}`
    })
    assert.equal(assumed.length, 1)
  })

  test('are not read without the name of a role, nor anything else', async () => {
    const { aws, opening } = await databases(1)
    const { inventory_role: _, ...config } = opening.config
    const calls = aws.entries().length
    const { resources, error } = await inventoryOf(quick.open({ ...opening, config }), 'databases')
    assert.deepEqual([resources, error, aws.entries().length], [[], undefined, calls])
  })
})

suite('an account whose databases cannot be read', () => {
  test('delays no other, and is named at the end', async () => {
    const { driver, accounts, arns } = await databases(3, (place) => place !== 1)
    const { resources, error } = await inventoryOf(driver, 'databases')
    assert.deepEqual(
      resources.map(({ id }) => id),
      [arns[0], arns[2]],
    )
    assert.ok(error instanceof TargetError && error.kind === 'permanent', String(error))
    const message =
      `the databases of 1 account could not be read: ${accounts[1]}; create the role \`${inventory_role}\` there with the trust ` +
      'policy and the rights of the guide (AWS answered AccessDenied to AssumeRole:'
    assert.ok(error.message.startsWith(message), error.message)
  })

  test('is one of three that are named, with the count of all', async () => {
    const { driver, accounts, arns } = await databases(6, (place) => place === 5)
    const { resources, error } = await inventoryOf(driver, 'databases')
    assert.deepEqual(
      resources.map(({ id }) => id),
      [arns[5]],
    )
    const named = `of 5 accounts could not be read: ${accounts.slice(0, 3).join(', ')} and 2 more;`
    assert.ok((error as Error).message.includes(named), String(error))
  })

  test('has a role that lacks the right, or that demands no external id', async () => {
    const { aws, driver, accounts, allow } = await databases(2, () => false)
    const [without = '', open = ''] = accounts
    allow(without, ['rds:ListTagsForResource'])
    aws.addRole(null, right, open, inventory_role)
    const { error } = await inventoryOf(driver, 'databases')
    assert.match(
      `${error}`,
      /2 accounts.*AWS answered AccessDenied to DescribeDBInstances in eu-central-1: .*rds:DescribeDBInstances/,
    )
    const asked = aws.entries('DescribeDBInstances').filter(({ by }) => by?.includes(`:${open}:`))
    assert.deepEqual(asked, [], 'no call was made as a role that anyone may assume')
  })

  test('has a region that does not answer; the others are read', async () => {
    const { aws, opening, accounts } = await databases(1)
    const inventory_regions = ['eu-west-9', aws.region]
    aws.next({ operation: 'DescribeDBInstances', region: 'eu-west-9', skip: 3 }, { error: 'OptInRequired' })
    const driver = quick.open({ ...opening, config: { ...opening.config, inventory_regions } })
    const { resources, error } = await inventoryOf(driver, 'databases')
    assert.equal(resources.length, 1)
    assert.match(
      `${error}`,
      new RegExp(`of 1 account could not be read: ${accounts[0]} .*OptInRequired .* in eu-west-9`),
    )
  })

  test('ends the reading for now if three in a row fail for a moment', async () => {
    const { aws, driver } = await databases(9)
    const end = aws.always('DescribeDBInstances', { error: 'InternalFailure' })
    const { error } = await inventoryOf(driver, 'databases')
    end()
    assert.ok(error instanceof TargetError && error.kind === 'transient', String(error))
    assert.match(error.message, /of 3 accounts could not be read: [\d, ]+ \(AWS answered InternalFailure/)
    assert.equal((await inventoryOf(driver, 'databases')).error, undefined)
  })

  test('does not end the reading if it is only one region of each', async () => {
    const { aws, opening, accounts } = await databases(4)
    const inventory_regions = ['eu-west-9', aws.region]
    const end = aws.always({ operation: 'DescribeDBInstances', region: 'eu-west-9' }, { error: 'OptInRequired' })
    const driver = quick.open({ ...opening, config: { ...opening.config, inventory_regions } })
    const { resources, error } = await inventoryOf(driver, 'databases')
    end()
    assert.equal(resources.length, accounts.length)
    assert.match(`${error}`, /of 7 accounts could not be read/)
  })

  test('does not make the others assume their roles again, nor the instance', async () => {
    const { aws, driver } = await databases(2)
    await inventoryOf(driver, 'accounts')
    const ofRole = (role: unknown) =>
      aws.entries('AssumeRole').filter(({ input, outcome }) => outcome === 'ok' && input.RoleArn === role).length
    const before = ofRole(aws.entries('AssumeRole').at(-1)?.input.RoleArn)
    aws.next('DescribeDBInstances', { error: 'InvalidClientTokenId', status: 403 })
    assert.notEqual((await inventoryOf(driver, 'databases')).error, undefined)
    const { error } = await inventoryOf(driver, 'databases')
    assert.deepEqual([error, before], [undefined, 1])
    const counts = new Map<unknown, number>()
    for (const { input } of aws.entries('AssumeRole')) counts.set(input.RoleArn, ofRole(input.RoleArn))
    assert.deepEqual([...counts.values()].sort(), [1, 1, 1, 1, 1, 2])
  })
})
