import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findPgbench } from '../../bench/pgbench.ts'
import { asMarkdown } from '../../bench/report.ts'
import { skipChromium } from './support/chromium.ts'

const run = promisify(execFile)
const bench = fileURLToPath(new URL('../../bench/run.ts', import.meta.url))
const { PATH, HOME, TMPDIR } = process.env
const env = { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(TMPDIR && { TMPDIR }) }

test('the bench of endpoints works, and reports the speed of each contender', async () => {
  const { stdout } = await run(process.execPath, [bench, 'endpoints', '--miniature'], { env })
  const rows = stdout.split('\n').flatMap((line) => {
    const [, row, ...cells] = line.split('|').map((cell) => cell.trim())
    return row === undefined || !/^(GET|POST|the write)/.test(row) ? [] : [{ row, cells: cells.slice(1, -1) }]
  })
  assert.deepEqual(
    rows.map(({ row }) => row),
    [
      'GET /v1/access/requests/{id}',
      'GET /v1/groups?limit=50',
      'the write of an approval',
      'POST /v1/requests/{id}/approve',
    ],
  )
  // Without pgbench its column is empty; so is a cell that a row does not measure.
  const measured = rows.map(({ cells }) => cells.map((cell) => /^[1-9]/.test(cell)))
  assert.deepEqual(measured, [
    [true, true, true],
    [true, true, true],
    [true, true, false],
    [false, false, true],
  ])
})

test('the bench of grants works: every end is dispatched and every grant is gone', async () => {
  const { stdout } = await run(process.execPath, [bench, 'grants', '--miniature'], { env })
  const counts = [...stdout.matchAll(/^\| (.*): (dispatched|gone) after its end +\|.*\| +(\d+) \|$/gm)]
  assert.deepEqual(
    counts.map(([, where, what, count]) => [where, what, count]),
    [
      ['3 tenants', 'dispatched', '300'],
      ['3 tenants', 'gone', '300'],
      ['one of two is killed', 'dispatched', '300'],
      ['one of two is killed', 'gone', '300'],
      ['the simulated AWS', 'gone', '20'],
    ],
  )
  assert.match(stdout, /^At the simulated AWS 20 ends took \d+ calls/m)
})

test('the benches of life cycles work: all access is active and gone, and the statements have names', async () => {
  const { stdout } = await run(process.execPath, [bench, 'lives', 'life', '--miniature'], { env })
  const [, ...cells] = /^\| 3 .*$/m.exec(stdout)?.[0].split('|').slice(1, -1) ?? []
  assert.equal(cells.length, 9, stdout)
  for (const cell of cells) assert.match(cell, /^ +[\d—]/)
  assert.match(stdout, /One life cycle a second: from asking to active \d+ ms/)
  assert.match(stdout, /^\| activates grants/m)
  assert.match(stdout, /the policy engine \d+ %/)
})

test('the bench of approvals works: a burst and a rate are measured', async () => {
  const { stdout } = await run(process.execPath, [bench, 'approvals', '--miniature'], { env })
  for (const name of ['40 pending, 16 at once', '10 a second for 2 s, whole lives'])
    assert.match(stdout, new RegExp(`^\\| ${name} +\\| +[1-9]`, 'm'), stdout)
})

test('the bench of growth works: each size is measured fresh and analyzed', async () => {
  const { stdout } = await run(process.execPath, [bench, 'growth', '--miniature'], { env })
  const rows = [...stdout.matchAll(/^\| (.+?) +\| +(\d+) \| +(\d+) \| +[1-9]/gm)]
  assert.deepEqual(
    rows.map(([, name, requests, events]) => [name, Number(requests) >= 90, Number(events) >= 500]),
    [
      ['after its own lives', false, false],
      ['3 times, fresh', true, true],
      ['3 times, analyzed', true, true],
    ],
  )
})

test('the bench of the limit works: all lives of the recording come to their end in pgbench too', {
  skip: findPgbench() === undefined && 'pgbench is not installed',
}, async () => {
  const { stdout } = await run(process.execPath, [bench, 'limit', '--miniature'], { env })
  const rows = [...stdout.matchAll(/^\| (pgbench|the service) +\| +[1-9]\d* \|.*\| +100\.0 % \| +([\d.]+) \|/gm)]
  assert.deepEqual(
    rows.map(([, name]) => name),
    ['pgbench', 'the service'],
    stdout,
  )
  assert.equal(rows[0]?.[2], rows[1]?.[2], 'each life leaves as many rows')
})

test('the bench of policy works: all contenders give the same answers', async () => {
  const { stdout, stderr } = await run(process.execPath, [bench, 'policy', '--miniature'], { env })
  /** How many contenders each has; the last has rules that the libraries cannot hold. */
  const rows: [string, number][] = [
    ['10 rules', 5],
    ['200 rules', 5],
    ['200 rules, none narrower', 5],
    ['200 rules, none narrower, no two alike', 5],
    ['200 rules, told apart by conditions', 2],
  ]
  for (const [row] of rows) assert.match(stderr, new RegExp(`^${row}: all answer alike$`, 'm'))
  const measured = [...stdout.matchAll(/^\| (\d+ rules.*?) +\|(.*)\|$/gm)].map(([, row, cells = '']) => [
    row,
    cells.split('|').filter((cell) => /[1-9]/.test(cell)).length,
  ])
  assert.deepEqual(measured, rows)
})

test('the bench of deliveries works: every mail arrives once', async () => {
  const { stdout } = await run(process.execPath, [bench, 'deliveries', '--miniature'], { env })
  assert.match(stdout, /^250 mails of 5 events to 50 recipients, each in order/m)
})

test('the bench of directories works: everybody who leaves is dispatched', async () => {
  const { stdout } = await run(process.execPath, [bench, 'directory', '--miniature'], { env })
  const counts = [...stdout.matchAll(/^\| (\d+) leave, .*: dispatched +\|.*\| +(\d+) \|$/gm)]
  assert.deepEqual(
    counts.map(([, leave, count]) => [leave, count]),
    [
      ['5', '5'],
      ['20', '20'],
      ['10', '10'],
    ],
  )
  assert.match(stdout, /^The import, 8 calls at once: 120 people in /m)
})

test('the bench of crowds works: all crowds are busy at once, and each call is measured', async () => {
  const { stdout } = await run(process.execPath, [bench, 'crowds', '--miniature'], { env })
  const counts = [...stdout.matchAll(/^\| (ask → active|GET \S+) +\|.*[✓✗] \|.*\| +(\d+) \|$/gm)]
  assert.deepEqual(
    counts.map(([, name, count]) => [name, count]),
    [
      ['ask → active', '20'],
      ['GET /v1/requests/{id}', '20'],
      ['GET /v1/requests?limit=50', '20'],
    ],
  )
  assert.match(stdout, /[1-9]\d* imports saved .* [1-9]\d* calls hanging/)
})

test('`--help` lists the benches', async () => {
  const { stdout } = await run(process.execPath, [bench, '--help'], { env })
  assert.match(stdout, /^ {2}endpoints /m)
  await assert.rejects(run(process.execPath, [bench, 'nonsense'], { env }), /there is no bench `nonsense`/)
})

test('a bench writes tables into the docs as the formatter would', () => {
  const rows = [
    ['GET — /v1', '1', '22 (3 %)', '4.2', '1'],
    ['é', '10,000,000', '', '9.4', '22'],
  ]
  const page = `${asMarkdown('endpoints', { columns: ['', 'a', 'share', 'p50', 'n'], rows, notes: ['Medians.'] })}\n`
  const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url))
  assert.equal(execFileSync(biome, ['format', '--stdin-file-path=page.md'], { input: page, encoding: 'utf8' }), page)
})

test('the bench of the console works: each key and click of both people is measured', {
  skip: skipChromium,
}, async () => {
  const { stdout } = await run(process.execPath, [bench, 'interactions', '--miniature'], { env })
  const counts = [...stdout.matchAll(/^\| (requesting|deciding) +\|.*\| +(\d+) \| +\d+ % \|$/gm)]
  assert.deepEqual(
    counts.map(([, name, count]) => [name, Number(count) > 20]),
    [
      ['requesting', true],
      ['deciding', true],
    ],
  )
})
