import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { tabsOf } from './tabs-of.ts'

suite('the tabs of a phone', () => {
  const cases: [places: number, tabs: number, more: number][] = [
    [2, 2, 0],
    [5, 5, 0],
    [6, 4, 2],
    [8, 4, 4],
  ]
  for (const [places, tabs, more] of cases)
    test(`of ${places} places are ${tabs}, with ${more} below “More”`, () => {
      const all = Array.from({ length: places }, (_, index) => index)
      const split = tabsOf(all)
      assert.deepEqual([split.tabs.length, split.more.length], [tabs, more])
      assert.deepEqual([...split.tabs, ...split.more], all)
    })
})
