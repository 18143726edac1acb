import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { followStopSignals } from './stop-signals.ts'

/** Sends the signals at these milliseconds, and returns what was said, whether a stop began, and with what code the process ended. */
function after(sent: [NodeJS.Signals, number][]) {
  const said: string[] = []
  const codes: number[] = []
  let now = 0
  let send: ((signal: NodeJS.Signals) => void) | undefined
  const host = {
    on: (_signal: NodeJS.Signals, act: (signal: NodeJS.Signals) => void) => {
      send = act
    },
    exit: (code: number) => codes.push(code),
    now: () => now,
    parent: () => undefined,
  }
  const stopping = followStopSignals((line) => said.push(line), 60_000, host)
  for (const [signal, at] of sent) {
    now = at
    send?.(signal)
  }
  return { said: said.length, stops: stopping.aborted, codes }
}

suite('a signal', () => {
  const rows: [what: string, sent: [NodeJS.Signals, number][], outcome: ReturnType<typeof after>][] = [
    ['that is not sent stops nothing', [], { said: 0, stops: false, codes: [] }],
    ['begins a stop', [['SIGTERM', 0]], { said: 1, stops: true, codes: [] }],
    [
      'that npm passes on again is the same',
      [
        ['SIGINT', 0],
        ['SIGINT', 40],
        ['SIGTERM', 900],
      ],
      { said: 1, stops: true, codes: [] },
    ],
    [
      'that comes again later ends the process',
      [
        ['SIGTERM', 0],
        ['SIGTERM', 1_100],
      ],
      { said: 1, stops: true, codes: [1] },
    ],
  ]
  for (const [what, sent, outcome] of rows) test(what, () => assert.deepEqual(after(sent), outcome))
})

test('the end of npm is a wish to stop', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let parent = 42
  const host = { on: () => undefined, exit: () => undefined, now: () => 0, parent: () => parent }
  const said: string[] = []
  const stopping = followStopSignals((line) => said.push(line), 60_000, host)
  t.mock.timers.tick(5_000)
  assert.equal(stopping.aborted, false)
  parent = 1
  t.mock.timers.tick(1_000)
  assert.deepEqual([stopping.aborted, said], [true, ['npm has ended: finishing the work in flight']])
})
