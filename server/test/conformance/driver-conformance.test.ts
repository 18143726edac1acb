import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../support/database.ts'
import { sandboxStage } from '../support/sandbox-stage.ts'
import { wrongActs, wrongPlans } from './broken-acts.ts'
import { wrongConfigs, wrongInTrouble } from './broken-manners.ts'
import { conformance } from './driver-conformance.ts'
import { tryCheck } from './stage.ts'

/** Tests the suite itself: each of its sentences fails for a driver that breaks it. */
const db = await testDatabase()
const wrongs = [...wrongPlans, ...wrongActs, ...wrongInTrouble, ...wrongConfigs]

for (const { sentence, fault, says, on } of wrongs) {
  test(`${fault}: no longer holds "${sentence}"`, async () => {
    const check = conformance[sentence]
    assert.ok(check, sentence)
    await assert.rejects(tryCheck(on(await sandboxStage(db)), check), says)
  })
}

test('each sentence of the suite has a driver that breaks it', () => {
  const bitten = new Set(wrongs.map(({ sentence }) => sentence))
  assert.deepEqual([...bitten].sort(), Object.keys(conformance).sort())
})
