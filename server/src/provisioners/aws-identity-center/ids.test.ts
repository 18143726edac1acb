import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noTx, openAwsTarget, patient, quick, toTheEnd } from '../../../test/support/aws-stage.ts'
import { openCutStage } from '../../../test/support/cut-stage.ts'
import { directoryOf } from '../../../test/support/directory-of.ts'
import { inventoryOf } from '../../../test/support/inventory-of.ts'
import { readEgressAllow } from '../../egress/allow-list.ts'
import { openEgress } from '../../egress/egress.ts'
import { findFaults } from './center-config.ts'

const uuid = '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}'
const forms = [
  { ids: 'uuid', store: /^d-[0-9a-f]{10}$/, person: new RegExp(`^${uuid}$`) },
  { ids: 'prefixed', store: /^d-[0-9a-f]{10}$/, person: new RegExp(`^[0-9a-f]{10}-${uuid}$`) },
  { ids: 'store too', store: new RegExp(`^${uuid}$`), person: new RegExp(`^${uuid}$`) },
] as const

for (const { ids, store, person } of forms) {
  suite(`with ids of the form \`${ids}\``, () => {
    test('access is planned, given, found and removed, by sets of the organization and by own ones', async () => {
      const { aws, config, opening, accounts, inputFor } = await openAwsTarget({ ids })
      const driver = quick.open(opening)
      assert.match(config.identity_store_id, store)
      assert.deepEqual(await findFaults(config, opening.egress), [])
      const inputs = [
        inputFor({ type: 'cloud_account', id: accounts[0] }, 'ReadOnly'),
        inputFor({ type: 'cloud_storage_bucket', id: 'play-logs' }, 'read'),
      ]
      for (const input of inputs) {
        assert.match(input.principal_id, person)
        const { key, target } = await driver.plan(noTx, input, patient)
        assert.equal(target.principal_id, input.principal_id)
        const inAnHour = new Date(Date.now() + 3_600_000)
        await toTheEnd(driver, target, () => driver.grant(noTx, target, inAnHour, patient))
        assert.equal(await driver.verify(noTx, target, inAnHour, patient), 'held')
        const found: string[] = []
        for await (const page of driver.discover?.(noTx, [{ key, target }], patient) ?? [])
          found.push(...page.map((one) => one.key))
        assert.deepEqual(found, [key])
        await toTheEnd(driver, target, () => driver.revoke(noTx, target, patient))
        assert.equal(await driver.verify(noTx, target, null, patient), 'absent')
      }
      assert.deepEqual(aws.assignments(), [])
      const checks = await driver.health(noTx, patient)
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
      )
      await driver.close()
    })

    test('a test finds the instance and its store', async () => {
      const { config, opening } = await openAwsTarget({ ids })
      const { instance_arn, identity_store_id, ...rest } = config
      const found = await quick.setUp?.find({ ...opening, config: rest }, patient)
      assert.deepEqual(found, { instance_arn, identity_store_id })
    })

    test('people and groups are read, for the directory and for the inventory', async () => {
      const { aws, opening, accounts, sets } = await openAwsTarget({ ids })
      const driver = quick.open(opening)
      const [ada, grace] = [aws.addUser('ada'), aws.addUser('grace')]
      const group = aws.addGroup('Developers', [grace])
      aws.assignByHand(accounts[0], sets.ReadOnly, ada)
      aws.assignByHand(accounts[0], sets.ReadOnly, group)
      const directory = await directoryOf(driver.readDirectory)
      assert.deepEqual(new Set(directory.people.map(({ id }) => id)), new Set([ada, grace]))
      assert.deepEqual(
        directory.groups.map(({ id, member_ids }) => [id, member_ids]),
        [[group, [grace]]],
      )
      const people = await inventoryOf(driver, 'people')
      assert.deepEqual(new Set(people.people.map(({ id }) => id)), new Set([ada, grace]))
      const { assignments } = await inventoryOf(driver, 'assignments')
      assert.deepEqual(new Set(assignments.map(({ principal_id }) => principal_id)), new Set([ada, group]))
      await driver.close()
    })

    test('sessions are cut at the end', async () => {
      const stage = await openCutStage({ ids })
      const ada = await stage.holder()
      assert.ok(stage.aws.accepts(ada.session))
      assert.deepEqual((await stage.take(ada.target)).sessions, { seconds: 0, note: null })
      assert.ok(!stage.aws.accepts(ada.session))
      assert.equal(stage.cutsNow().length, 1)
      await stage.driver.close()
    })
  })
}

suite('a config names a store by', () => {
  const egress = openEgress(readEgressAllow(''))
  const base = {
    region: 'eu-central-1',
    account_id: '111122223333',
    instance_arn: 'arn:aws:sso:::instance/ssoins-0123456789abcdef',
    external_id: 'an external id'.replaceAll(' ', '-'),
  }
  const stores: readonly [identity_store_id: string, isSound: boolean][] = [
    ['d-0123456789', true],
    ['01234567-89ab-cdef-0123-456789abcdef', true],
    ['d-012345678', false],
    ['d-0123456789a', false],
    ['d-01234567-89ab-cdef-0123-456789abcdef', false],
    ['01234567-89ab-cdef-0123-456789abcde', false],
    ['01234567-89AB-CDEF-0123-456789ABCDEF', false],
    ['0123456789-01234567-89ab-cdef-0123-456789abcdef', false],
  ]
  for (const [identity_store_id, isSound] of stores) {
    test(`${identity_store_id}: ${isSound ? 'accepted' : 'refused'}`, async () => {
      const faults = await findFaults({ ...base, identity_store_id }, egress)
      assert.deepEqual(
        faults.map(({ pointer }) => pointer),
        isSound ? [] : ['/config/identity_store_id'],
      )
    })
  }
})
