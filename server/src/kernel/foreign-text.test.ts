import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sanitizeText } from './foreign-text.ts'

test('text from another service is stored as one bounded line without our secrets (S3)', () => {
  const cases: [unknown, string | null][] = [
    ['no such user', 'no such user'],
    ['550-no\r\n550 such\tuser\u0000', '550-no 550 such user'],
    ['turned \u202ekcab\u2028again', 'turned kcab again'],
    ['half \ud800 a pair', 'half a pair'],
    ['you sent hunter2, hunter2!', 'you sent [redacted], [redacted]!'],
    ['x'.repeat(10_000), 'x'.repeat(500)],
    [`${'x'.repeat(499)}😀`, 'x'.repeat(499)],
    [' \r\n ', null],
    ['', null],
    [42, null],
  ]
  for (const [text, kept] of cases) assert.equal(sanitizeText(text, ['hunter2', '']), kept)
})
