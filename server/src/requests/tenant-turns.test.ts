import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../kernel/id.ts'
import { previewTurns } from './tenant-turns.ts'

/** Work that runs until it is told to end. */
function openWork() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let began = false
  const work = async () => {
    began = true
    await promise
  }
  return { work, end: resolve, hasBegun: () => began }
}

suite('long questions to policy', () => {
  test('of one person run one at a time, and beyond three that wait are refused; others of the tenant go on', async () => {
    const tenant_id = newId()
    const [flooding, other] = ['flooding', 'other'].map((user_id) => ({ tenant_id, user_id }))
    assert.ok(flooding !== undefined && other !== undefined)
    const works = Array.from({ length: 5 }, openWork)
    const running = works.slice(0, 4).map(({ work }) => previewTurns(flooding, work))
    await assert.rejects(previewTurns(flooding, works[4]?.work ?? assert.fail), { code: 'unavailable' })
    assert.deepEqual(
      works.map(({ hasBegun }) => hasBegun()),
      [true, false, false, false, false],
    )
    await previewTurns(other, () => Promise.resolve())
    for (const { end } of works) end()
    await Promise.all(running)
  })

  test('of one tenant run two at a time; those of another do not wait', async () => {
    const tenant_id = newId()
    const works = Array.from({ length: 3 }, openWork)
    const running = works.map(({ work }, index) => previewTurns({ tenant_id, user_id: `user ${index}` }, work))
    await previewTurns({ tenant_id: newId(), user_id: 'user' }, () => Promise.resolve())
    assert.deepEqual(
      works.map(({ hasBegun }) => hasBegun()),
      [true, true, false],
    )
    for (const { end } of works) end()
    await Promise.all(running)
  })
})
