import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { readLocale, readPreferencesChange, readTimeZone } from './preferences.ts'

suite('a language', () => {
  const read: [string, string | undefined][] = [
    ['en', 'en'],
    ['en-us', 'en-US'],
    ['PT-br', 'pt-BR'],
    ['zh-Hant-TW', 'zh-Hant-TW'],
    ['en-GB-u-hc-h12', 'en-GB-u-hc-h12'],
    ['iw', 'he'],
    ['', undefined],
    ['*', undefined],
    ['C', undefined],
    ['en_US', undefined],
    ['en-', undefined],
    ['xx', undefined],
    ['english', undefined],
    ['not-a-locale', undefined],
    ['../../etc/passwd', undefined],
    ['<script>', undefined],
    ['en\n', undefined],
    [`en-u-${'aa-'.repeat(50)}bb`, undefined],
  ]
  for (const [text, tag] of read) {
    const name = tag === undefined ? `${JSON.stringify(text)} is refused (I9)` : `${text} is ${tag}`
    test(name, () => assert.equal(readLocale(text), tag))
  }
})

suite('a time zone', () => {
  const taken: [string, string][] = [
    ['UTC', 'UTC'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Asia/Kolkata', 'Asia/Kolkata'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['US/Pacific', 'US/Pacific'],
    ['GMT', 'GMT'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ]
  for (const [text, zone] of taken) test(`${text} is read as ${zone}`, () => assert.equal(readTimeZone(text), zone))

  const refused = {
    'that is empty': '',
    'that is a path': '../../etc/passwd',
    'that is a path from the root': '/etc/localtime',
    'that is a file of the zone database': 'posix/Europe/Berlin',
    'that does not exist': 'Etc/GMT+99',
    'of an unknown city': 'Europe/Nowhere',
    'that is an offset': '+01:00',
    'that is an offset without a colon': '-0300',
    'that is an abbreviation': 'CEST',
    'with a space after it': 'Europe/Berlin ',
    'with a line break after it': 'UTC\n',
    'whose slash only looks like one': 'Europe\u2215Berlin',
    'whose letter only looks like one': 'Eur\u043epe/Berlin',
    'that is far too long': 'Europe/'.repeat(1_000),
  }
  for (const [name, text] of Object.entries(refused)) {
    test(`is refused ${name} (I9)`, () => assert.equal(readTimeZone(text), undefined))
  }

  test('can be any of the platform’s list', () => {
    for (const zone of Intl.supportedValuesOf('timeZone')) assert.equal(readTimeZone(zone), zone)
  })
})

suite('a change of preferences', () => {
  test('has only the given fields, including null', () => {
    assert.deepEqual(readPreferencesChange({}), {})
    const change = { locale: 'DE', timezone: null, time_format: '24h' as const, date_format: null }
    assert.deepEqual(readPreferencesChange(change), { ...change, locale: 'de' })
  })
  test('names each invalid field', () => {
    const attempt = () => readPreferencesChange({ locale: 'xx', timezone: 'Etc/GMT+99', time_format: '12h' })
    assert.throws(attempt, (thrown) => {
      const fields = thrown instanceof Problem ? (thrown.details?.fields as { pointer: string }[]) : []
      assert.deepEqual(
        fields.map((field) => field.pointer),
        ['/locale', '/timezone'],
      )
      return true
    })
  })
})
