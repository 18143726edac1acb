import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readView } from './view.ts'

suite('an address', () => {
  const cases: [what: string, given: Record<string, unknown>, expected: object][] = [
    ['of the directory', {}, {}],
    ['of a run', { run: 'r1' }, { run: 'r1' }],
    [
      'of a filtered run',
      { run: 'r1', change: 'absent', outcome: 'done' },
      { run: 'r1', change: 'absent', outcome: 'done' },
    ],
    ['with filters that are none', { run: 'r1', change: 'x', outcome: 'unchanged' }, { run: 'r1' }],
    ['with an empty run', { run: '' }, {}],
    ['with more in it', { run: 'r1', q: 'x' }, { run: 'r1' }],
  ]
  for (const [what, given, expected] of cases) test(what, () => assert.deepEqual(readView(given), expected))
})
