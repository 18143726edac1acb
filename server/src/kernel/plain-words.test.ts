import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { duration, line, moment } from './plain-words.ts'

suite('plain words', () => {
  test('user text is put on one line, cut, and cannot change the text direction (J9)', () => {
    assert.equal(line(' a\r\nb\u0000c\u2028d '), 'a b c d')
    assert.equal(line('x\u202egpj.exe\u2069'), 'xgpj.exe')
    assert.equal(line('é'.repeat(10_000)), `${'é'.repeat(200)}…`)
    assert.equal(line('😀😀😀', 2), '😀😀…')
  })

  test('a duration has its two largest units', () => {
    assert.deepEqual([60, 3600, 5400, 90_061, 1_209_600].map(duration), [
      '1 min',
      '1 h',
      '1 h 30 min',
      '1 d 1 h',
      '14 d',
    ])
  })

  const moments: [iso: string, zone: string, text: string][] = [
    ['2026-03-01T08:05:09.120Z', 'UTC', '2026-03-01 08:05 UTC'],
    ['2026-03-01T08:05:09.120Z', 'Europe/Berlin', '2026-03-01 09:05 CET (08:05 UTC)'],
    ['2026-03-01T23:30:00Z', 'Europe/Berlin', '2026-03-02 00:30 CET (2026-03-01 23:30 UTC)'],
    // The night in which summer time begins, and the hour that is repeated when it ends.
    ['2026-03-29T00:59:00Z', 'Europe/Berlin', '2026-03-29 01:59 CET (00:59 UTC)'],
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29 03:00 CEST (01:00 UTC)'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25 02:30 CEST (00:30 UTC)'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25 02:30 CET (01:30 UTC)'],
    ['2026-07-01T02:00:00Z', 'America/New_York', '2026-06-30 22:00 EDT (2026-07-01 02:00 UTC)'],
    ['2026-07-01T08:05:00Z', 'Asia/Tokyo', '2026-07-01 17:05 UTC+9 (08:05 UTC)'],
    ['2026-07-01T08:05:00Z', 'asia/kolkata', '2026-07-01 13:35 IST (08:05 UTC)'],
    ['2026-07-01T08:05:00Z', 'Mars/Olympus', '2026-07-01 08:05 UTC'],
    ['2026-07-01T08:05:00Z', '+05:00', '2026-07-01 08:05 UTC'],
  ]
  for (const [iso, zone, text] of moments) {
    test(`${iso} in ${zone} is ${text}`, () => assert.equal(moment(iso, zone), text))
  }
})
