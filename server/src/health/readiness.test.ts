import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openReadiness } from './readiness.ts'

const coded = (code: string) => Object.assign(new Error(`of ${code}`), { code })

/** A readiness with a clock that the test moves, and a probe that fails as it says. */
function open(t: { after(end: () => void): void }) {
  const state = { nowMs: 0, error: undefined as Error | undefined, probes: 0 }
  const lines: string[] = []
  const readiness = openReadiness({
    probe: async () => {
      state.probes += 1
      if (state.error !== undefined) throw state.error
    },
    log: () => ({
      error: (_fields, line) => lines.push(`error: ${line}`),
      info: (line) => lines.push(`info: ${line}`),
    }),
    now: () => state.nowMs,
  })
  t.after(readiness.stop)
  return { state, lines, readiness }
}

test('each cause has its sentence, which names nothing of the installation', async (t) => {
  const cases: [string, RegExp][] = [
    ['ECONNREFUSED', /^the database does not answer$/],
    ['28P01', /^the database refuses the credentials of the service$/],
    ['28000', /^the database refuses the credentials of the service$/],
    ['3D000', /does not exist$/],
    ['42501', /refuses the service a right/],
    ['25006', /^the database is read-only, as a standby is$/],
    ['53100', /^the disk of the database is full$/],
    ['53300', /accepts no more connections/],
    ['57P03', /starting or stopping/],
    ['XX000', /^the database takes no writes$/],
  ]
  for (const [code, sentence] of cases) {
    const { state, readiness } = open(t)
    assert.equal(await readiness.check(), undefined)
    assert.equal(readiness.isReady(), true)
    state.nowMs = 1_000
    state.error = coded(code)
    assert.match((await readiness.check()) ?? '', sentence)
    assert.equal(readiness.isReady(), false)
  }
})

test('the database is asked at most once a second, however often the process is', async (t) => {
  const { state, readiness } = open(t)
  for (const [nowMs, probes] of [[0, 1] as const, [999, 1] as const, [1_000, 2] as const, [5_000, 3] as const]) {
    state.nowMs = nowMs
    for (let times = 0; times < 5; times += 1) await readiness.check()
    assert.equal(state.probes, probes, `after ${nowMs} ms`)
  }
})

test('the log has a cause at once, then once a minute, another cause at once, and the end', async (t) => {
  const { state, lines, readiness } = open(t)
  const checkAt = async (seconds: number, error: Error | undefined) => {
    state.nowMs = seconds * 1_000
    state.error = error
    await readiness.check()
    return lines.splice(0)
  }
  assert.deepEqual(await checkAt(0, undefined), [])
  const full = 'error: not ready, because the disk of the database is full: make room on it'
  assert.deepEqual(await checkAt(10, coded('53100')), [full])
  assert.deepEqual(await checkAt(11, coded('53100')), [])
  assert.deepEqual(await checkAt(69, coded('53100')), [])
  assert.deepEqual(await checkAt(70, coded('53100')), [full])
  assert.deepEqual(await checkAt(80, coded('ECONNREFUSED')), ['error: not ready, because the database does not answer'])
  assert.deepEqual(await checkAt(90, undefined), ['info: the database takes writes again, after 80 s'])
  assert.deepEqual(await checkAt(100, undefined), [])
})
