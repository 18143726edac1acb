import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noEgress } from '../../test/support/no-egress.ts'
import { markKeys, original } from '../../test/support/original.ts'
import { canary, config, talkativeProvisioners } from '../../test/support/talkative-provisioners.ts'
import { until } from '../../test/support/wait.ts'
import { rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { openSealer } from '../secrets/sealer.ts'
import { TargetError } from './driver.ts'
import { type Drivers, openDrivers } from './drivers.ts'

const { seen, types, setUp } = await talkativeProvisioners()

suite('the drivers of another process', () => {
  const sealer = openSealer(rootKeysOf([rootKeyOf(Buffer.alloc(32, 7))]))
  const process = () =>
    openDrivers({ types, sealer, egress: noEgress, public_url: 'http://127.0.0.1', installation: original, markKeys })
  const at = (drivers: Drivers, { tx, id }: Awaited<ReturnType<typeof setUp>>, version: number) =>
    drivers.of(tx, { provisioner: 'sandbox', provisioner_id: id, provisioner_version: version })

  test('are opened once, and again after a change of the provisioner', async () => {
    const one = await setUp()
    const drivers = process()
    const before = seen.opened.length
    const [first, same] = await Promise.all([at(drivers, one, 1), at(drivers, one, 1)])
    assert.equal(first, same)
    assert.equal(seen.opened.length, before + 1)
    await one.as('PATCH', '', { config: { ...config, note: 'second' } })
    // A caller that read the row before the change does not bring the old driver back.
    const [then, late] = [await at(drivers, one, 2), await at(drivers, one, 1)]
    assert.notEqual(then, first)
    assert.equal(late, then)
    assert.equal(seen.opened.at(-1)?.config.note, 'second')
    await drivers.close()
  })

  test('drop the previous secret when its overlap ends', async () => {
    const one = await setUp()
    const drivers = process()
    await one.as('POST', '/rotate-secret', { overlap_seconds: 1 })
    await at(drivers, one, 2)
    assert.deepEqual(seen.opened.at(-1)?.previous, one.created.shown_once)
    await until('a driver is opened without the previous secret', async () => {
      await at(drivers, one, 2)
      return Object.keys(seen.opened.at(-1)?.previous ?? {}).length === 0
    })
    await drivers.close()
  })

  test('redact secrets in errors, whatever the target answers', async () => {
    const one = await setUp()
    const drivers = process()
    const driver = await at(drivers, one, 1)
    const isRedacted = (error: unknown) =>
      error instanceof TargetError && error.message.includes('[redacted]') && !error.message.includes(canary)
    const signal = AbortSignal.timeout(1_000)
    await assert.rejects(driver.poll(one.tx, {}, 'x', signal), isRedacted)
    await assert.rejects(Array.fromAsync(driver.readInventory?.('accounts', signal) ?? []), isRedacted)
    await assert.rejects(Array.fromAsync(driver.readDirectory?.({ groups: true }, signal) ?? []), isRedacted)
    await drivers.close()
  })

  test('cannot be opened for a deleted provisioner', async () => {
    const one = await setUp()
    await one.as('DELETE')
    const drivers = process()
    await assert.rejects(at(drivers, one, 1), (error) => error instanceof TargetError && error.kind === 'permanent')
    await drivers.close()
  })
})
