import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTx, openAwsTarget, patient, quick, toTheEnd } from '../../../test/support/aws-stage.ts'
import type { Sighting } from '../driver.ts'
import { tagKeys } from './own-set.ts'

const { aws, opening, accounts, sets, inputFor } = await openAwsTarget()
const driver = quick.open(opening)
const inAnHour = new Date(Date.now() + 3_600_000)
const onBucket = () => inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'read')
const onAccount = () => inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly')

async function given(input: ReturnType<typeof inputFor>): Promise<Sighting> {
  const { key, target } = await driver.plan(noTx, input, patient)
  await toTheEnd(driver, target, () => driver.grant(noTx, target, inAnHour, patient))
  return { key, target }
}

async function listed(known: readonly Sighting[]): Promise<Sighting[]> {
  const all: Sighting[] = []
  for await (const page of driver.discover?.(noTx, known, patient) ?? []) all.push(...page)
  return all
}

test('discovery lists known assignments and unknown ones of own sets, each revocable, and no others (F8)', async () => {
  const [onSet, own] = [await given(onAccount()), await given(onBucket())]
  const name = (own.target as { own_set: { name: string } }).own_set.name
  const ours = aws.permissionSets().find((set) => set.name === name)
  const strangers = [onAccount(), onAccount(), onAccount(), onAccount()].map(({ principal_id }) => principal_id)
  const [onOurSet = '', onStray = '', onHouse = '', onOtherTenants = ''] = strangers
  const stray = aws.addPermissionSet('sallyport-stray', { [tagKeys.tenant]: opening.tenant_id })
  const other = aws.addPermissionSet('sallyport-other', { [tagKeys.tenant]: 'another tenant' })
  aws.assignByHand(accounts[0], ours?.arn ?? '', onOurSet)
  aws.assignByHand(accounts[1], stray, onStray)
  aws.assignByHand(accounts[0], sets.ReadOnly, onHouse)
  aws.assignByHand(accounts[0], other, onOtherTenants)
  const found = await listed([onSet, own])
  const strays = found.filter(({ key }) => key !== onSet.key && key !== own.key)
  assert.equal(found.length, 4)
  assert.deepEqual(strays.map(({ target }) => target.principal_id).sort(), [onOurSet, onStray].sort())
  for (const { target } of strays) await toTheEnd(driver, target, () => driver.revoke(noTx, target, patient))
  const left = aws.assignments().map(({ principal }) => principal)
  assert.deepEqual(
    strangers.filter((id) => left.includes(id)),
    [onHouse, onOtherTenants],
  )
})

test('access that was revoked long ago costs discovery no call', async () => {
  const past: Sighting[] = []
  for (let times = 0; times < 5; times += 1) {
    const one = await given(onBucket())
    await toTheEnd(driver, one.target, () => driver.revoke(noTx, one.target, patient))
    past.push(one)
  }
  await listed([])
  const before = aws.entries().length
  await listed([])
  const cost = aws.entries().length - before
  const from = aws.entries().length
  await listed(past)
  assert.equal(aws.entries().length - from, cost)
})
