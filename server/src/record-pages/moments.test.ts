import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Preferences } from './bodies.ts'
import { clockFor } from './moments.ts'
import { german } from './words-de.ts'
import { english, type Words } from './words-en.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const usual: Preferences = { locale: 'en-GB', timezone: 'UTC', date_format: null, time_format: null, chosen: [] }

suite('a moment on a page', () => {
  const cases: [string, Partial<Preferences>, Words, string, string][] = [
    ['is the time alone, today', {}, english, '2026-03-01T08:05:09.120Z', 'at 08:05'],
    ['has its date, on another day', {}, english, '2026-02-28T08:05:09.120Z', 'on 28 Feb 2026 at 08:05'],
    ['stands in the person’s zone', { timezone: 'Asia/Kolkata' }, english, '2026-03-01T08:05:00Z', 'at 13:35'],
    [
      'has its date by the person’s zone',
      { timezone: 'America/Los_Angeles' },
      english,
      '2026-03-01T07:05:00Z',
      'on 28 Feb 2026 at 23:05',
    ],
    ['has the person’s format of times', { time_format: '12h' }, english, '2026-03-01T15:05:00Z', 'at 3:05 pm'],
    [
      'has the person’s format of dates',
      { date_format: 'MM/DD/YYYY', time_format: '24h', locale: 'en-US' },
      english,
      '2026-02-28T00:05:00Z',
      'on 02/28/2026 at 00:05',
    ],
    ['has no zero in front of twelve hours', { locale: 'en-US' }, english, '2026-03-01T08:05:00Z', 'at 8:05 AM'],
    ['is in UTC for a zone that is none', { timezone: 'Nowhere' }, english, '2026-03-01T08:05:00Z', 'at 08:05'],
    ['is German on a German page', { locale: 'de' }, german, '2026-02-28T08:05:00Z', 'am 28.02.2026 um 08:05'],
    ['mixes no languages', { locale: 'ja' }, german, '2026-02-28T08:05:00Z', 'am 28.02.2026 um 08:05'],
  ]
  for (const [name, preferences, words, iso, text] of cases) {
    test(name, () => {
      // Versions of ICU differ in the space before AM.
      const shown = clockFor({ ...usual, ...preferences }, words, now)
        .when(iso)
        .text.replace('\u202f', ' ')
      assert.equal(shown, `<time datetime="${iso}" title="${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC">${text}</time>`)
    })
  }

  test('is past or to come, and so many seconds later another', () => {
    const clock = clockFor(usual, english, now)
    assert.equal(clock.after('2026-03-01T11:55:00.000Z', 600), '2026-03-01T12:05:00.000Z')
    assert.deepEqual([clock.isPast('2026-03-01T12:00:00Z'), clock.isPast('2026-03-01T12:00:01Z')], [true, false])
  })
})
