import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowToEnd } from './long-rows.ts'

const long = { afterMs: 5, goOn: 2, untilMs: 100 }

/** Rows as `tenant age`, at the moment 1,000. */
const cases: [string, string[], string | undefined][] = [
  ['none is long', ['a 4', 'b 1'], undefined],
  ['few are long: they go on', ['a 50', 'b 5', 'c 4'], undefined],
  ['of more than go on, the one that began last', ['a 50', 'b 40', 'c 5', 'd 6', 'e 4'], 'c 5'],
  ['in any order', ['d 6', 'c 5', 'b 40', 'a 50'], 'c 5'],
  ['of a tenant one goes on', ['a 50', 'a 40'], 'a 40'],
  ['and not in the place of another tenant', ['a 50', 'a 40', 'a 30', 'b 5'], 'a 30'],
  ['none goes on indefinitely', ['a 100', 'b 50'], 'a 100'],
  ['and another of its tenant may go on then', ['a 100', 'a 99'], 'a 100'],
]
for (const [what, rows, ended] of cases) {
  test(what, () => {
    const running = rows.map((name) => {
      const [tenant_id = '', age] = name.split(' ')
      return { name, tenant_id, since: 1_000 - Number(age) }
    })
    assert.equal(rowToEnd(running, 1_000, long)?.name, ended)
  })
}
