import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../support/database.ts'
import { sandboxStage } from '../support/sandbox-stage.ts'
import { wrongActs, wrongPlans } from './broken-acts.ts'
import { wrongConfigs, wrongInTrouble } from './broken-manners.ts'
import { conformance } from './driver-conformance.ts'
import { tryCheck } from './stage.ts'

/** The suite's own teeth: each of its sentences is seen to fail a driver that gets it wrong. */
const db = await testDatabase()
const wrongs = [...wrongPlans, ...wrongActs, ...wrongInTrouble, ...wrongConfigs]

for (const { sentence, fault, says, on } of wrongs) {
  test(`${fault}: no longer holds "${sentence}"`, async () => {
    const check = conformance[sentence]
    assert.ok(check, sentence)
    await assert.rejects(tryCheck(on(await sandboxStage(db)), check), says)
  })
}

test('each sentence of the suite is seen to fail', () => {
  const bitten = new Set(wrongs.map(({ sentence }) => sentence))
  assert.deepEqual([...bitten].sort(), Object.keys(conformance).sort())
})
