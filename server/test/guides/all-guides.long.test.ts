import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesInOrder } from './blocks.ts'
import { typedLast } from './marks.ts'
import { newcomer } from './newcomer.ts'
import { typePage } from './typing.ts'

/** A new user types the README and all guides into one bash, in the order in which the README names them: what one leaves behind troubles no other. */
test('all guides work one after another, in one tenant', async (t) => {
  const { shell, replaced, stop } = await newcomer()
  for (const isLast of [false, true])
    for (const page of pagesInOrder())
      await t.test(isLast ? `${page}, what nothing undoes` : page, async () => {
        const faults = await typePage(shell, page, replaced, ({ words }) => words.includes(typedLast) === isLast)
        assert.deepEqual(faults, [])
      })
  await stop()
})
