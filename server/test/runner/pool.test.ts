import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type PoolOptions, runBatches } from './pool.ts'
import type { Outcome } from './report.ts'

/** A repository with a few test files, each of which ends in a different way. */
const root = mkdtempSync(join(tmpdir(), 'pool-'))
after(() => rmSync(root, { recursive: true, force: true }))
const bodies = {
  passes: `test('adds', () => undefined); test('adds again', () => undefined)`,
  says: `test('adds', () => undefined); after(() => console.log('an end'))`,
  'says-too': `test('adds', () => undefined); after(() => console.error('another end'))`,
  fails: `test('subtracts', () => { throw new Error('a wrong difference') })`,
  'fails-after': `test('adds', () => undefined); after(() => { throw new Error('no end') }); after(() => console.log('ended all the same'))`,
  'fails-before': `before(() => { throw new Error('no beginning') }); test('adds', () => undefined)`,
  'fails-to-load': `test('adds', () => undefined); await new Promise((go) => setTimeout(go, 5)); throw new Error('half a file')`,
  'is-no-code': `test('adds', () => `,
  'says-much': `test('adds', (t) => { t.diagnostic('x'.repeat(8_000_000)) })`,
  skips: `test('adds', { skip: 'no adder' }, () => undefined)`,
  crashes: `test('adds', () => process.exit(3))`,
  'is-killed': `test('adds', () => process.kill(process.pid, 'SIGKILL'))`,
  leaks: `test('adds', () => undefined); setInterval(() => undefined, 1_000)`,
  hangs: `test('waits', () => new Promise((go) => setTimeout(go, 1e8)))`,
  'throws-late': `test('adds', async () => { setTimeout(() => { throw new Error('nobody waited') }); await new Promise((go) => setTimeout(go, 50)) })`,
}
type Name = keyof typeof bodies
for (const [name, body] of Object.entries(bodies)) {
  writeFileSync(join(root, `${name}.test.mjs`), `import { after, before, test } from 'node:test'\n${body}\n`)
}

/** Runs files in one process; returns how each ended, in order. */
async function outcomesOf(names: Name[], options: Partial<PoolOptions> = {}) {
  const outcomes: Outcome[] = []
  await runBatches([{ files: names.map((name) => `${name}.test.mjs`), seconds: 1 }], {
    root,
    width: 2,
    env: process.env,
    hangMs: 60_000,
    signal: new AbortController().signal,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
  })
  return outcomes.map(({ file, totals, output, otherOutput }) => {
    return { name: file.replace('.test.mjs', ''), ...totals, output, otherOutput }
  })
}

const inShort = (outcomes: Awaited<ReturnType<typeof outcomesOf>>) =>
  outcomes.map(({ name, passed, failed, success }) => [name, passed, failed, success])

test('files run one after another in a process, each to its end', async () => {
  const outcomes = await outcomesOf(['says', 'passes', 'skips', 'says-too'])
  assert.deepEqual(inShort(outcomes), [
    ['says', 1, 0, true],
    ['passes', 2, 0, true],
    ['skips', 0, 0, true],
    ['says-too', 1, 0, true],
  ])
  assert.equal(outcomes[2]?.skipped, 1)
  assert.deepEqual(
    outcomes.map(({ otherOutput }) => otherOutput.trim()),
    ['an end', '', '', 'another end'],
    'its own hooks run at its end',
  )
})

test('the last report of a process arrives whole, however long it is', async () => {
  const [outcome] = await outcomesOf(['says-much'])
  assert.deepEqual([outcome?.passed, outcome?.failed, outcome?.success], [1, 0, true])
  assert.ok((outcome?.output.length ?? 0) > 8_000_000)
})

const failures: [Name, RegExp][] = [
  ['fails', /a wrong difference/],
  ['fails-after', /no end/],
  ['fails-before', /no beginning/],
  ['fails-to-load', /half a file/],
  ['is-no-code', /SyntaxError/],
  ['throws-late', /nobody waited/],
]
for (const [name, why] of failures) {
  test(`a file that ${name.replaceAll('-', ' ')} is reported, and the others continue`, async () => {
    const outcomes = await outcomesOf(['passes', name, 'skips'])
    assert.deepEqual(
      outcomes.map(({ name, success }) => [name, success]),
      [
        ['passes', true],
        [name, false],
        ['skips', true],
      ],
    )
    const outcome = outcomes[1]
    assert.ok((outcome?.failed ?? 0) > 0)
    assert.match(`${outcome?.output}${outcome?.otherOutput}`, why)
  })
}

for (const name of ['crashes', 'is-killed'] as const) {
  test(`after a file that ${name.replaceAll('-', ' ')} the remaining ones run in another process`, async () => {
    const outcomes = await outcomesOf(['passes', name, 'skips'])
    assert.deepEqual(inShort(outcomes), [
      ['passes', 2, 0, true],
      [name, 0, 1, false],
      ['skips', 0, 0, true],
    ])
    assert.match(outcomes[1]?.output ?? '', name === 'crashes' ? /it ended with 3/ : /it ended with SIGKILL/)
  })
}

test('a process with an open handle is ended and reported', async () => {
  const outcomes = await outcomesOf(['leaks', 'passes'], { settleMs: 300 })
  assert.deepEqual(
    outcomes.map(({ success }) => success),
    [true, true, false],
  )
  assert.match(outcomes[2]?.output ?? '', /is still open: leaks\.test\.mjs, passes\.test\.mjs/)
})

test('a file that hangs is ended and reported, and the remaining ones run', async () => {
  const outcomes = await outcomesOf(['hangs', 'passes'], { hangMs: 2_000 })
  assert.deepEqual(inShort(outcomes), [
    ['hangs', 0, 1, false],
    ['passes', 2, 0, true],
  ])
  assert.match(outcomes[0]?.output ?? '', /no test ended for 2 s/)
})

test('ending a run ends the running files, and starts no more', async () => {
  const ending = new AbortController()
  setTimeout(() => ending.abort(), 500)
  assert.deepEqual(await outcomesOf(['hangs', 'passes'], { signal: ending.signal }), [])
})
