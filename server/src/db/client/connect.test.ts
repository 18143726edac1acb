import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { toDateTime } from './connect.ts'

test('a PostgreSQL timestamp becomes the same time in ISO 8601, to the millisecond', () => {
  for (const [text, moment] of [
    ['2026-11-21 19:50:00+00', '2026-11-21T19:50:00.000Z'],
    ['2026-11-21 19:50:00.1+00', '2026-11-21T19:50:00.100Z'],
    ['2026-11-21 19:50:00.999999+00', '2026-11-21T19:50:00.999Z'],
    ['2026-11-21 19:50:00.25+01', '2026-11-21T18:50:00.250Z'],
    ['2026-11-21 19:50:00.123456+05:30', '2026-11-21T14:20:00.123Z'],
  ] as const) {
    assert.equal(toDateTime(text), moment, text)
  }
})

test('a converted timestamp equals the ISO text of the same `Date`', () => {
  const moments = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(moments, fc.integer({ min: 0, max: 999 }), (moment, micros) => {
      const text = `${moment.toISOString().replace('T', ' ').slice(0, -1)}${String(micros).padStart(3, '0')}+00`
      assert.equal(toDateTime(text), moment.toISOString())
    }),
  )
})
