import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { config, talkativeProvisioners } from '../../test/support/talkative-provisioners.ts'

const { setUp, asSuperuser } = await talkativeProvisioners()

/** The parts of a provisioner's inventory that are due now, by how often they were begun again. */
const dueParts = (id: string) =>
  asSuperuser(
    'select part, generation from inventory_part where provisioner_id = $1 and next_look_at <= clock_timestamp()',
    [id],
  )
const begun = (generation: number) => [{ part: 'accounts', generation: String(generation) }]

/** As after a run. */
const rest = () => asSuperuser(`update inventory_part set next_look_at = clock_timestamp() + interval '1 hour'`)

suite('the inventory of a provisioner is read', () => {
  test('once its test has passed, and not before', async () => {
    const { id, as } = await setUp({ note: 'fails' })
    await as('POST', '/test')
    assert.deepEqual(await dueParts(id), [])
    await as('PATCH', '', { config: { ...config, note: 'passes' } })
    await rest()
    await as('POST', '/test')
    assert.deepEqual(await dueParts(id), [], 'nothing has failed')
    await asSuperuser('update inventory_part set failures = 3 where provisioner_id = $1', [id])
    await as('POST', '/test')
    assert.deepEqual(await dueParts(id), begun(1))
  })

  test('for the first time after a passed test', async () => {
    const { id, as } = await setUp()
    await as('POST', '/test')
    assert.deepEqual(await dueParts(id), begun(0))
  })

  test('again when its config has changed, and not with its name', async () => {
    const { id, as } = await setUp()
    await as('POST', '/test')
    await rest()
    await as('PATCH', '', { name: 'Another' })
    assert.deepEqual(await dueParts(id), [])
    await as('PATCH', '', { config: { ...config, note: 'second' } })
    assert.deepEqual(await dueParts(id), begun(1))
  })

  test('for the first time when it is enabled', async () => {
    const { id, as } = await setUp()
    await as('PATCH', '', { enabled: false })
    assert.deepEqual(await dueParts(id), [])
    await as('PATCH', '', { enabled: true })
    assert.deepEqual(await dueParts(id), begun(0))
  })
})
