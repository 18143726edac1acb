import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { filtersOf } from './filters.ts'
import { readView } from './view.ts'

suite('an address', () => {
  const none = { change: undefined, outcome: undefined }
  const cases: [what: string, given: Record<string, unknown>, view: object, filters: object][] = [
    ['of the directory', {}, {}, none],
    ['of a run', { run: 'r1' }, { run: 'r1' }, none],
    [
      'of a filtered run',
      { run: 'r1', change: 'absent', outcome: 'done' },
      { run: 'r1', change: 'absent', outcome: 'done' },
      { change: 'absent', outcome: 'done' },
    ],
    ['with a filter that is none', { run: 'r1', change: 'x' }, { run: 'r1', change: 'x' }, none],
    ['with an empty run', { run: '' }, {}, none],
    ['with more in it', { run: 'r1', q: 'x' }, { run: 'r1' }, none],
  ]
  for (const [what, given, view, filters] of cases)
    test(what, () => assert.deepEqual([readView(given), filtersOf(readView(given))], [view, filters]))
})
