import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { englishSetUp } from '../words/english-set-up.ts'
import { germanSetUp } from '../words/german-set-up.ts'
import { clockOf } from './clock.ts'

const english = { locale: 'en', date_format: null, time_format: null } as const
const german = { ...english, locale: 'de' } as const

const cases: [what: string, preferences: Parameters<typeof clockOf>[0], minutes: number, said: string][] = [
  ['the end of a day in English', english, 1_440, 'midnight'],
  ['its beginning', english, 0, '12:00 AM'],
  ['noon', english, 720, '12:00 PM'],
  ['its last minute', english, 1_439, '11:59 PM'],
  ['the end of a day by 24 hours', { ...english, time_format: '24h' }, 1_440, '24:00'],
  ['its beginning by 24 hours', { ...english, time_format: '24h' }, 0, '00:00'],
  ['the end of a day in German', german, 1_440, '24:00'],
  ['its beginning in German', german, 0, '00:00'],
  ['the end of a day in German by 12 hours', { ...german, time_format: '12h' }, 1_440, 'Mitternacht'],
  ['an hour in German', german, 540, '09:00'],
  ['the end of a day as others write it', { ...english, locale: 'fi' }, 1_440, '24.00'],
]

suite('a time of day in a rule', () => {
  for (const [what, preferences, minutes, said] of cases)
    test(`${what}: ${said}`, () => {
      const { rules } = preferences.locale === 'de' ? germanSetUp : englishSetUp
      // Node writes a narrow space before AM and PM.
      assert.equal(clockOf(preferences, rules.midnight)(minutes).replaceAll(/\s/g, ' '), said)
    })
})
