import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { testDatabase } from '../../test/support/database.ts'
import { readMoment } from './moment.ts'

suite('a date-time that a caller sends', () => {
  const moments: [string, string][] = [
    ['2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22t10:00:00z', '2026-11-22T10:00:00.000Z'],
    ['2026-11-22T10:00:00.5+05:30', '2026-11-22T04:30:00.500Z'],
    ['2026-11-22T10:00:00.123456789-15:59', '2026-11-23T01:59:00.123Z'],
    ['2024-02-29T23:59:59-00:00', '2024-02-29T23:59:59.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2017-01-01T00:29:60+00:30', '2017-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ]
  for (const [text, moment] of moments) {
    test(`is read: ${text}`, () => assert.equal(readMoment(text)?.toISOString(), moment))
  }

  const faulty: Record<string, string> = {
    'an offset that PostgreSQL refuses': '2026-11-22T10:00:00+16:00',
    'minutes of an offset above 59': '2026-11-22T10:00:00+01:60',
    'an offset without a colon': '2026-11-22T10:00:00+0100',
    'no offset': '2026-11-22T10:00:00',
    'the year 0': '0000-06-01T00:00:00Z',
    'the year 0 in UTC': '0001-01-01T00:00:00+00:01',
    'the year 10000 in UTC': '9999-12-31T23:59:59-00:01',
    'a year of five digits': '10000-01-01T00:00:00Z',
    'a signed year': '+002026-01-01T00:00:00Z',
    'a month 13': '2026-13-01T00:00:00Z',
    'a month 0': '2026-00-01T00:00:00Z',
    'a day 0': '2026-01-00T00:00:00Z',
    'February 30': '2026-02-30T00:00:00Z',
    'February 29 of no leap year': '1900-02-29T00:00:00Z',
    'the hour 24': '2026-11-22T24:00:00Z',
    'a minute 60': '2026-11-22T10:60:00Z',
    'a second 60 that is no leap second': '2026-11-22T10:00:60Z',
    'ten digits of a second': '2026-11-22T10:00:00.1234567890Z',
    'no digits after the point': '2026-11-22T10:00:00.Z',
    'a comma for the point': '2026-11-22T10:00:00,5Z',
    'a name of a zone': '2026-11-22T10:00:00Z[UTC]',
    'no time': '2026-11-22',
    'a space for the T': '2026-11-22 10:00:00Z',
    'a line break at its end': '2026-11-22T10:00:00Z\n',
    'other digits': '٢٠٢٦-11-22T10:00:00Z',
    'a word': 'infinity',
  }
  for (const [what, text] of Object.entries(faulty)) {
    test(`is refused with ${what}`, () => assert.equal(readMoment(text), undefined))
  }
})

const db = await testDatabase()

const digits = (count: number, edges: string[]) =>
  fc.oneof(
    fc.constantFrom(...edges),
    fc.nat(10 ** count - 1).map((number) => String(number).padStart(count, '0')),
  )
const year = digits(4, ['0000', '0001', '1582', '1900', '2000', '2024', '9999'])
const part = digits(2, ['00', '01', '02', '12', '13', '23', '24', '28', '29', '30', '31', '59', '60'])
const low = fc.constantFrom('01', '02', '10', '12', '15', '23', '28')
/** Mostly valid, so that many of the generated dates are accepted. */
const usual = fc.oneof({ weight: 8, arbitrary: low }, { weight: 1, arbitrary: part })
const fraction = fc.oneof(
  fc.constantFrom('', '.5', '.999999999'),
  fc.string({ unit: fc.constantFrom('0', '5', '9'), maxLength: 200 }).map((text) => `.${text}`),
)
const offset = fc.oneof(
  fc.constantFrom(
    'Z',
    'z',
    '',
    '+00:00',
    '-00:00',
    '+15:59',
    '-15:59',
    '+16:00',
    '[UTC]',
    'Z[Europe/Berlin]',
    ' UTC',
    ' BC',
  ),
  fc.tuple(fc.constantFrom('+', '-', '±'), usual, usual).map(([s, h, m]) => `${s}${h}:${m}`),
)
const dateTimes = fc
  .tuple(year, usual, usual, fc.constantFrom('T', 'T', 't', ' ', 'T0'))
  .map(([y, m, d, t]) => `${y}-${m}-${d}${t}`)
  .chain((date) =>
    fc.tuple(usual, usual, usual, fraction, offset).map(([h, m, s, f, o]) => `${date}${h}:${m}:${s}${f}${o}`),
  )

test('every date-time that is accepted is the same moment to PostgreSQL', async () => {
  let count = 0
  await fc.assert(
    fc.asyncProperty(fc.array(dateTimes, { minLength: 100, maxLength: 400 }), async (texts) => {
      const read = texts
        .flatMap((text) => ({ text, ms: readMoment(text)?.getTime() }))
        .filter(({ ms }) => ms !== undefined)
      count += read.length
      const rows = await db.asSuperuser<{ text: string; ms: string }>(
        `select text, floor(extract(epoch from date_trunc('milliseconds', text::timestamptz)) * 1000) as ms
          from unnest($1::text[]) as text`,
        [read.map(({ text }) => text)],
      )
      for (const [index, { text, ms }] of rows.entries()) {
        // PostgreSQL rounds to microseconds, which can reach the next millisecond.
        assert.ok([0, 1].includes(Number(ms) - (read[index]?.ms ?? 0)), text)
      }
    }),
  )
  assert.ok(count > 1_000, `only ${count} of the generated dates were accepted`)
})
