import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { asOf, type Inventory, isWhole, type Part, pollAfter, readingOf } from './inventory.ts'

const now = Date.parse('2026-11-26T13:30:00Z')
const [before, after] = ['2026-11-26T13:00:00Z', '2026-11-26T14:00:00Z']
const read: Part = { part: 'people', finished_at: before, next_at: after, reading: false, error: null }
const of = (...parts: Partial<Part>[]) => ({ parts: parts.map((part) => ({ ...read, ...part })) }) as Inventory

suite('an inventory is loaded again', () => {
  const cases: [what: string, inventory: Inventory | undefined, polls: number, expected: boolean][] = [
    ['while a part is read', of({}, { reading: true, next_at: null }), 1, true],
    ['before a part was read', of({ finished_at: null }), 1, true],
    ['when a part is about to be read', of({ next_at: before }), 1, true],
    ['before it has parts', of(), 1, true],
    ['not where all is read', of({}, {}), 1, false],
    ['not where a part cannot be read, until it is tried again', of({ finished_at: null, error: 'denied' }), 1, false],
    ['not without end', of({ reading: true }), 400, false],
    ['not before it was loaded', undefined, 0, false],
  ]
  for (const [what, inventory, polls, expected] of cases)
    test(what, () => assert.equal(pollAfter(inventory, polls, now) !== false, expected))
})

suite('the list of what is held', () => {
  const held: Partial<Part> = { part: 'assignments' }
  test('is another one once a part was read again', () => {
    assert.notEqual(readingOf(of(held, {})), readingOf(of(held, { finished_at: after })))
    assert.equal(readingOf(of(held, {})), readingOf(of(held, { reading: true, next_at: null })))
  })
  const cases: [what: string, inventory: Inventory, expected: boolean][] = [
    ['is shown once all was read', of(held, {}), true],
    ['waits for parts that are read for the first time', of(held, { finished_at: null }), false],
    ['does not wait for what cannot be read', of(held, { finished_at: null, error: 'denied' }), true],
    ['is not shown where it cannot be read itself', of({ ...held, finished_at: null, error: 'denied' }, {}), false],
  ]
  for (const [what, inventory, expected] of cases)
    test(what, () => assert.equal(readingOf(inventory) !== undefined, expected))
})

suite('an inventory', () => {
  test('is true as of when its oldest part was read', () => {
    assert.equal(asOf(of({ finished_at: after }, {}, { finished_at: null })), before)
    assert.equal(asOf(of({ finished_at: null })), undefined)
  })
  const cases: [what: string, inventory: Inventory, expected: boolean][] = [
    ['with all parts is whole', of({}, {}), true],
    ['without parts is not', of(), false],
    ['with a part that was not read is not', of({}, { finished_at: null }), false],
    ['with a fault is not', of({}, { error: 'denied' }), false],
  ]
  for (const [what, inventory, expected] of cases) test(what, () => assert.equal(isWhole(inventory), expected))
})
