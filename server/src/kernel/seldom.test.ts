import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { seldom } from './seldom.ts'

test('says the first at once, and with the next how many were kept back', (t) => {
  let now = 5
  t.mock.method(performance, 'now', () => now)
  const said = mock.fn()
  const tell = seldom<string>(1_000, said)
  tell('one')
  for (let times = 0; times < 400; times += 1) tell('another')
  now += 1_000
  tell('two')
  now += 1_000
  tell('three')
  assert.deepEqual(
    said.mock.calls.map((call) => call.arguments),
    [
      ['one', 0],
      ['two', 400],
      ['three', 0],
    ],
  )
})
