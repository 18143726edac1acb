import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english } from '../words/english.ts'
import { german } from '../words/german.ts'
import { makeFormats } from './formats.ts'
import { remaining } from './remaining.ts'
import { whenOf } from './when.ts'

const at = '2026-11-26T23:04:05.000Z'
const none = { locale: 'en', timezone: 'UTC', date_format: null, time_format: null } as const

const dates: [string, Parameters<typeof makeFormats>[0], string, string][] = [
  ['nothing chosen', none, 'Nov 26, 2026', '11:04 PM'],
  ['a zone where it is tomorrow', { ...none, timezone: 'Europe/Berlin' }, 'Nov 27, 2026', '12:04 AM'],
  ['a language', { ...none, locale: 'de' }, '26.11.2026', '23:04'],
  ['a date format', { ...none, date_format: 'YYYY-MM-DD' }, '2026-11-26', '11:04 PM'],
  ['days first', { ...none, date_format: 'DD/MM/YYYY' }, '26/11/2026', '11:04 PM'],
  ['months first', { ...none, date_format: 'MM/DD/YYYY' }, '11/26/2026', '11:04 PM'],
  ['24 hours', { ...none, time_format: '24h' }, 'Nov 26, 2026', '23:04'],
  ['12 hours in German', { ...none, locale: 'de', time_format: '12h' }, '26.11.2026', '11:04 PM'],
]

suite('dates by preference', () => {
  for (const [what, preferences, date, time] of dates)
    test(what, () => {
      const formats = makeFormats(preferences)
      // Node writes a narrow space before AM and PM.
      const plain = (text: string) => text.replaceAll(/\s/g, ' ')
      assert.equal(plain(formats.date(at)), date)
      assert.equal(plain(formats.time(at)), time)
      assert.equal(formats.utc(at), '2026-11-26 23:04:05 UTC')
    })

  test('a moment of today has no date', () => {
    const formats = makeFormats({ ...none, time_format: '24h' })
    assert.equal(formats.moment(at, Date.parse(at)), '23:04')
    assert.equal(formats.moment(at, Date.parse('2026-11-27T00:00:00Z')), 'Nov 26, 2026, 23:04')
  })
})

const whens: [
  what: string,
  preferences: Parameters<typeof makeFormats>[0],
  words: typeof english,
  now: string,
  said: string,
][] = [
  ['today', { ...none, time_format: '24h' }, english, '2026-11-26T23:59:00Z', 'at 23:04'],
  ['on another day', { ...none, time_format: '24h' }, english, '2026-11-27T00:01:00Z', 'on Nov 26, 2026, 23:04'],
  ['today, in German', { ...none, locale: 'de' }, german, '2026-11-26T23:59:00Z', 'um 23:04'],
  ['on another day, in German', { ...none, locale: 'de' }, german, '2026-11-27T00:01:00Z', 'am 26.11.2026, 23:04'],
]

suite('a moment within a sentence', () => {
  for (const [what, preferences, words, now, said] of whens)
    test(`${what}: ${said}`, () => assert.equal(whenOf(at, Date.parse(now), makeFormats(preferences), words), said))
})

const countdowns: [seconds: number, text: string][] = [
  [0, 'ends now'],
  [-5, 'ends now'],
  [0.2, '0:01 left'],
  [59, '0:59 left'],
  [299, '4:59 left'],
  [300, '5 min left'],
  [301, '6 min left'],
  [3_600, '1 h left'],
  [3_541, '1 h left'],
  [5_400, '1 h 30 min left'],
  [90_000, '1 day 1 h left'],
  [172_800, '2 days left'],
]

suite('a countdown', () => {
  for (const [seconds, text] of countdowns)
    test(`${seconds} s: ${text}`, () => assert.equal(english.time.left(remaining(seconds)), text))
})
