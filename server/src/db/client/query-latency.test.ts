import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryLatency } from './query-latency.ts'

const statement = { text: 'select 1', values: [] }
const [quick, slow] = [0.1, 3]

/** How a statement is classified after these measurements. */
const cases = [
  { measured: [], isQuick: false, isDue: true },
  { measured: [quick], isQuick: false, isDue: true },
  { measured: [quick, quick], isQuick: true, isDue: true },
  { measured: [quick, quick, quick], isQuick: true, isDue: false },
  { measured: [quick, slow, quick], isQuick: true, isDue: false },
  { measured: [quick, quick, slow], isQuick: true, isDue: true },
  { measured: [quick, slow, slow], isQuick: false, isDue: false },
  { measured: [slow, slow, slow, quick, quick], isQuick: true, isDue: false },
]

for (const { measured, ...expected } of cases) {
  test(`measured ${measured.join(', ') || 'never'} ms: ${JSON.stringify(expected)}`, () => {
    const latency = new QueryLatency()
    for (const ms of measured) latency.add(statement, ms)
    assert.deepEqual(latency.use(statement), expected)
  })
}

for (const { every, measured } of [
  { every: 32, measured: [quick, quick, quick] },
  { every: 8, measured: [slow, slow, slow] },
]) {
  test(`a statement of ${measured[0]} ms is measured at every ${every}th use`, () => {
    const latency = new QueryLatency()
    for (const ms of measured) latency.add(statement, ms)
    const due = Array.from({ length: 3 * every }, () => latency.use(statement).isDue)
    assert.deepEqual(
      due.flatMap((isDue, index) => (isDue ? [index + 1] : [])),
      [every, 2 * every, 3 * every],
    )
  })
}
