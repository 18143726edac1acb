import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { throttledLog } from './throttled-log.ts'

test('logs the first at once, and reports the number of suppressed ones with the next', (t) => {
  let now = 5
  t.mock.method(performance, 'now', () => now)
  const logged = mock.fn()
  const log = throttledLog<string>(1_000, logged)
  log('one')
  for (let times = 0; times < 400; times += 1) log('another')
  now += 1_000
  log('two')
  now += 1_000
  log('three')
  assert.deepEqual(
    logged.mock.calls.map((call) => call.arguments),
    [
      ['one', 0],
      ['two', 400],
      ['three', 0],
    ],
  )
})
