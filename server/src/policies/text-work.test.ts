import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBeside, tasksModule } from '../../test/support/beside-tasks.ts'
import { workOnText } from './text-work.ts'

test('only a long text is read beside the main thread (J11)', async () => {
  for (const [length, expected] of [
    [1, false],
    [998, false],
    [999, true],
    [10_000, true],
  ] as const) {
    assert.equal(await workOnText('a', 'x'.repeat(length), tasksModule, isBeside, []), expected, `${length}`)
  }
})
