import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Entry } from '../../../test/support/aws/call-log.ts'
import { noTx, openAwsTarget, patient, quick, toTheEnd } from '../../../test/support/aws-stage.ts'
import { directoryOf } from '../../../test/support/directory-of.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import type { Driver, PlanInput } from '../driver.ts'

const guide = await readFile(
  new URL('../../../../docs/guides/provisioner-aws-identity-center.md', import.meta.url),
  'utf8',
)

/** Each call that was refused, with its error, but for the tries of roles. */
function refusedIn(entries: readonly Entry[]): string[] {
  const refused = entries.filter(({ outcome, operation }) => outcome !== 'ok' && operation !== 'AssumeRole')
  return refused.map(({ operation, outcome }) => `${operation} ${outcome}`).sort()
}

/** The actions that a policy of the guide allows. */
function actionsOf(policy: 'operator' | 'trust' | 'role' | 'sessions' | 'cut' | 'inventory'): string[] {
  const [, text = ''] = new RegExp(`\`\`\`json ${policy}\n([\\s\\S]*?)\`\`\``).exec(guide) ?? []
  const { Statement } = JSON.parse(text) as { Statement: { Action: string | string[] }[] }
  return Statement.flatMap(({ Action }) => Action)
}

test('the permissions in the guide suffice to grant, revoke and list everything, and each of them is needed', async () => {
  const { aws, opening, role_arn, external_id, accounts, sets, inputFor } = await openAwsTarget()
  aws.setActions(role_arn, actionsOf('role'))
  const session_role = aws.addRole(external_id, actionsOf('sessions'), accounts[0]).replace(/.*\//, '')
  const inventory_role = 'sallyport-inventory'
  for (const account of [aws.management_account, ...accounts])
    aws.addRole(external_id, actionsOf('inventory'), account, inventory_role)
  const database = `arn:aws:rds:${aws.region}:${accounts[0]}:db:orders`
  const databases = { [database]: { resource_id: 'db-ABCDEF', users: { connect: '{user}' } } }
  const driver = quick.open({ ...opening, config: { ...opening.config, session_role, inventory_role, databases } })
  assert.deepEqual(
    (await driver.health(noTx, patient)).filter(({ ok }) => !ok),
    [],
  )
  const inputs = [
    inputFor({ type: 'cloud_account', id: accounts[0] }, 'Admin'),
    inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'ReadObjects'),
    inputFor({ type: 'cloud_db_instance', id: database }, 'connect'),
    inputFor({ type: 'cloud_compute_instance', id: 'i-0123456789' }, 'connect'),
  ]
  for (const input of inputs) await giveAndTake(driver, input, input === inputs[3] ? openShell : undefined)
  function openShell() {
    const set = aws.permissionSets().find(({ name }) => name.startsWith('sallyport-'))
    aws.addShell(
      accounts[0],
      'i-0123456789',
      `arn:aws:sts::${accounts[0]}:assumed-role/AWSReservedSSO_${set?.name}_0/ada`,
    )
  }
  assert.deepEqual(aws.shells(), [], 'open shells end with the grant')
  assert.deepEqual(aws.assignments(), [])
  assert.equal(aws.permissionSets().length, 2)
  aws.assignByHand(accounts[1], sets.ReadOnly, aws.addGroup('Developers'))
  for (const part of quick.inventoryParts) assert.equal((await inventoryOf(driver, part)).error, undefined)
  assert.equal((await directoryOf(driver.readDirectory)).error, undefined)
  const policies = ['operator', 'role', 'sessions', 'inventory'] as const
  const listed = policies.flatMap(actionsOf).sort()
  assert.deepEqual(
    aws.actions().filter((action) => action !== 'sts:GetCallerIdentity'),
    listed,
  )
  assert.deepEqual(
    refusedIn(aws.entries()),
    ['CreateAccountAssignment ResourceNotFoundException', 'DeleteAccountAssignment ResourceNotFoundException'],
    'nothing was refused on the way, except what the health check asks about a set that does not exist',
  )
  await driver.close()
})

test('with the further permissions in the guide, sessions are cut at the end, and each of them is needed', async () => {
  const { aws, opening, role_arn, accounts, sets, inputFor } = await openAwsTarget({}, { cut_sessions: true })
  aws.setActions(role_arn, [...actionsOf('role'), ...actionsOf('cut')])
  const driver = quick.open(opening)
  const [account] = accounts
  aws.assignByHand(account, sets.Administrator, aws.addUser('bystander@example.com'))
  const input = inputFor({ type: 'cloud_account', id: account }, 'Admin')
  const { key, target } = await driver.plan(noTx, input, patient)
  await giveAndTake(driver, input)
  const policy = () => aws.permissionSets().find(({ arn }) => arn === sets.Administrator)?.contents.inline_policy
  const { Statement } = JSON.parse(policy() ?? '') as { Statement: object[] }
  assert.equal(Statement.length, 1)
  // Its sessions are over.
  aws.setPolicyByHand(sets.Administrator, `${policy()}`.replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/, '"2020-01-01T00:00:00Z"'))
  for await (const page of driver.discover?.(noTx, [{ key, target }], patient) ?? []) assert.deepEqual(page, [])
  assert.equal(policy(), '')
  const used = aws.actions()
  assert.deepEqual(
    actionsOf('cut').filter((action) => !used.includes(action)),
    [],
  )
  assert.deepEqual(refusedIn(aws.entries()), [])
  await driver.close()
})

async function giveAndTake(driver: Driver, input: PlanInput, meanwhile?: () => void): Promise<void> {
  const inHours = (count: number) => new Date(Date.now() + count * 3_600_000)
  const { key, target } = await driver.plan(noTx, input, patient)
  await toTheEnd(driver, target, () => driver.grant(noTx, target, inHours(1), patient))
  assert.equal(await driver.verify(noTx, target, inHours(1), patient), 'held')
  const recorded = await driver.plan(noTx, { ...input, audit_session: true }, patient)
  assert.equal(recorded.key, key)
  assert.match(recorded.recorded_as ?? '', /^AWSReservedSSO_[\w+=,.@-]{1,32}_\*$/)
  await toTheEnd(driver, recorded.target, () => driver.grant(noTx, recorded.target, inHours(2), patient))
  assert.equal(await driver.verify(noTx, target, inHours(2), patient), 'held')
  const listed: string[] = []
  for await (const page of driver.discover?.(noTx, [{ key, target }], patient) ?? [])
    listed.push(...page.map((one) => one.key))
  assert.deepEqual(listed, [key])
  meanwhile?.()
  await toTheEnd(driver, target, () => driver.revoke(noTx, target, patient))
  assert.equal(await driver.verify(noTx, target, null, patient), 'absent')
}
