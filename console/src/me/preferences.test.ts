import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  changesIn,
  languageName,
  offeredLanguages,
  type Preferences,
  preferencesHere,
  previewed,
  zonesByRegion,
} from './preferences.ts'

const none: Preferences = { locale: null, timezone: null, date_format: null, time_format: null }
const ofTenant = { locale: 'en', timezone: 'UTC', date_format: null, time_format: null, chosen: [] }

suite('the languages to choose from', () => {
  const cases: [string | null, string[]][] = [
    [null, ['en', 'de']],
    ['de', ['en', 'de']],
    ['fr-CH', ['en', 'de', 'fr-CH']],
  ]
  for (const [set, offered] of cases)
    test(`with ${set ?? 'none'} set are ${offered.join(', ')}`, () => assert.deepEqual(offeredLanguages(set), offered))
  test('have names of their own', () => {
    assert.deepEqual(['en', 'de', 'fr-CH'].map(languageName), ['English', 'Deutsch', 'français suisse'])
  })
})

suite('time zones', () => {
  const known = ['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Europe/Athens']
  test('stand by region, cities in order, UTC too', () => {
    assert.deepEqual(zonesByRegion(known, null), [
      { name: 'America', zones: [{ zone: 'America/Argentina/Buenos_Aires', city: 'Argentina/Buenos Aires' }] },
      {
        name: 'Europe',
        zones: [
          { zone: 'Europe/Athens', city: 'Athens' },
          { zone: 'Europe/Berlin', city: 'Berlin' },
        ],
      },
      { name: '', zones: [{ zone: 'UTC', city: 'UTC' }] },
    ])
  })
  test('hold the one that is set, though the browser does not list it', () => {
    const zones = zonesByRegion(known, 'US/Pacific').flatMap((region) => region.zones.map(({ zone }) => zone))
    assert.ok(zones.includes('US/Pacific'))
  })
  test('hold the one that is set once', () => {
    const zones = zonesByRegion(known, 'Europe/Berlin').flatMap((region) => region.zones.map(({ zone }) => zone))
    assert.equal(zones.length, new Set(zones).size)
  })
})

suite('the time zone that applies', () => {
  test('is that of the device, while none is chosen', () => {
    assert.equal(preferencesHere({ ...ofTenant }, 'Asia/Tokyo').timezone, 'Asia/Tokyo')
  })
  test('is the chosen one', () => {
    const chosen = { ...ofTenant, timezone: 'Europe/Berlin', chosen: ['timezone' as const] }
    assert.equal(preferencesHere(chosen, 'Asia/Tokyo').timezone, 'Europe/Berlin')
  })
})

suite('a preview', () => {
  const german = { ...ofTenant, locale: 'de', chosen: ['locale' as const] }
  const cases: [string, Preferences, Parameters<typeof previewed>[1], string | undefined][] = [
    ['of the language of the organization', none, ofTenant, 'en Asia/Tokyo'],
    ['of a chosen language', { ...none, locale: 'de' }, ofTenant, 'de Asia/Tokyo'],
    ['of a chosen zone', { ...none, timezone: 'Europe/Berlin' }, ofTenant, 'en Europe/Berlin'],
    ['is not possible for the language of the organization while another is chosen', none, german, undefined],
  ]
  for (const [name, choice, effective, expected] of cases)
    test(name, () => {
      const shown = previewed(choice, effective, 'Asia/Tokyo')
      assert.equal(shown && `${shown.locale} ${shown.timezone}`, expected)
    })
})

suite('a change', () => {
  const stored: Preferences = { ...none, locale: 'de', time_format: '24h' }
  const cases: [string, Preferences, Partial<Preferences>][] = [
    ['is empty without a difference', stored, {}],
    ['holds a new value alone', { ...stored, timezone: 'UTC' }, { timezone: 'UTC' }],
    ['holds what is taken back', { ...stored, locale: null }, { locale: null }],
  ]
  for (const [name, choice, change] of cases) test(name, () => assert.deepEqual(changesIn(stored, choice), change))
})
