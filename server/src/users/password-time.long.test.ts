import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { hashPassword, verifyPassword } from './password.ts'

const tenant = { tenant_id: newId() }

/** The fastest of several rounds: other work of the machine only makes a round slower. */
async function fastest(stored: string | undefined): Promise<number> {
  let fastestMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20; round += 1) {
    const beganAt = performance.now()
    await verifyPassword(tenant, 'wrong horse', stored)
    fastestMs = Math.min(fastestMs, performance.now() - beganAt)
  }
  return fastestMs
}

test('checking a password takes the same work whether there is an account or not (D1)', async () => {
  const phc = await hashPassword(tenant, 'correct horse')
  const [none, some] = [await fastest(undefined), await fastest(phc)]
  assert.ok(none > some / 2 && some > none / 2, `${none} ms without an account, ${some} ms with one`)
})
