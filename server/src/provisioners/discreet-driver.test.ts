import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTx, patient } from '../../test/support/aws-stage.ts'
import { discreetDriver } from './discreet-driver.ts'
import { type Driver, NotNow, TargetError } from './driver.ts'
import { noSecrets } from './provisioner-secrets.ts'

/** A driver whose checks throw that. The test calls nothing else of it. */
const throwing = (error: Error) => ({ verify: () => Promise.reject(error) }) as unknown as Driver

test('neither a failure nor a reason to wait contains a secret', async () => {
  const secrets = { ...noSecrets, given: { password: 'correct-horse-battery' } }
  const errors = [new TargetError('transient', 'no correct-horse-battery'), new NotNow(7, 'no correct-horse-battery')]
  for (const error of errors) {
    await assert.rejects(discreetDriver(throwing(error), secrets).verify(noTx, {}, null, patient), (thrown: Error) => {
      assert.equal(thrown.constructor, error.constructor)
      assert.doesNotMatch(`${thrown.message} ${JSON.stringify(thrown)}`, /correct-horse/)
      return true
    })
  }
  const usual = new NotNow(7)
  await assert.rejects(
    discreetDriver(throwing(usual), secrets).verify(noTx, {}, null, patient),
    (thrown) => thrown === usual,
  )
})
