import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTx, openAwsTarget, patient, quick } from '../../../test/support/aws-stage.ts'
import type { Opening } from '../driver.ts'
import { TargetError } from '../driver.ts'

const target = await openAwsTarget()
const { aws, opening, accounts, external_id, inputFor } = target
const makeInput = () => inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly')

const withConfig = (more: Record<string, unknown>, previous: Opening['previous'] = {}) =>
  quick.open({ ...opening, config: { ...opening.config, ...more }, previous })

const assumed = () => aws.entries('AssumeRole').filter(({ outcome }) => outcome === 'ok').length

test('a role that does not require the external id is never used (T15)', async () => {
  const driver = withConfig({ role_arn: aws.addRole(null) })
  const calls = aws.entries().length
  await assert.rejects(driver.plan(noTx, makeInput(), patient), (error) => {
    assert.ok(error instanceof TargetError && error.kind === 'permanent')
    assert.match(error.message, /can be assumed without its external id/)
    return true
  })
  const made = aws.entries().slice(calls)
  assert.ok(
    made.every(({ operation }) => operation === 'AssumeRole'),
    'nothing was done as that role',
  )
  const [bad] = (await driver.health(noTx, patient)).filter(({ ok }) => !ok)
  assert.match(`${bad?.message}`, /trust policy must demand it/)
})

test('a role that requires the external id of another tenant cannot be assumed (T15)', async () => {
  const driver = withConfig({ role_arn: aws.addRole('the external id of another tenant') })
  await assert.rejects(driver.plan(noTx, makeInput(), patient), (error) => {
    assert.ok(error instanceof TargetError && error.kind === 'permanent')
    assert.match(error.message, /^AWS answered AccessDenied to AssumeRole: .*\(request [0-9a-f-]+\)$/)
    return true
  })
  const [bad] = (await driver.health(noTx, patient)).filter(({ ok }) => !ok)
  assert.match(`${bad?.message}`, /the external id that was shown at creation/)
})

test('the previous external id still works after a rotation', async () => {
  const driver = withConfig({ external_id: 'made-a-moment-ago-and-not-in-the-trust-policy' }, { external_id })
  await driver.plan(noTx, makeInput(), patient)
})

test('many concurrent calls assume the role once, with the provisioner’s id in the session name', async () => {
  const driver = withConfig({})
  const before = assumed()
  await Promise.all(Array.from({ length: 5 }, () => driver.plan(noTx, makeInput(), patient)))
  assert.equal(assumed(), before + 1)
  const { input } = aws.entries('AssumeRole').at(-1) ?? {}
  assert.equal(input?.RoleSessionName, `sallyport-${opening.provisioner_id}`)
})

test('credentials that AWS no longer accepts are replaced', async () => {
  const driver = withConfig({})
  await driver.plan(noTx, makeInput(), patient)
  aws.endSessions()
  const one = makeInput()
  await assert.rejects(driver.plan(noTx, one, patient), (error) => {
    assert.ok(error instanceof TargetError && error.kind === 'transient')
    return true
  })
  await driver.plan(noTx, one, patient)
})

test('a permission set of another instance is refused before any call (T15)', async () => {
  const driver = withConfig({})
  const foreign = `arn:aws:sso:::permissionSet/ssoins-${'0'.repeat(16)}/ps-${'0'.repeat(16)}`
  const input = { ...makeInput(), permission_set: foreign }
  await assert.rejects(driver.plan(noTx, input, patient), /must be a permission set of this instance/)
  const calls = aws.entries().map(({ input }) => JSON.stringify(input))
  assert.ok(!calls.some((text) => text.includes(foreign)))
})

test('a set with Sallyport’s own name prefix cannot be requested by its name or ARN', async () => {
  const driver = withConfig({})
  const arn = aws.addPermissionSet('sallyport-0123456789')
  for (const set of ['sallyport-0123456789', arn]) {
    await assert.rejects(driver.plan(noTx, { ...makeInput(), permission_set: set }, patient), TargetError)
  }
})
