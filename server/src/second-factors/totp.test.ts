import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { codeAt } from '../../test/support/totp-app.ts'
import { makeTotpSecret, stepOfCode, totpUri } from './totp.ts'

/** The secret of RFC 6238, appendix B: the ASCII text `12345678901234567890`. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const at = (seconds: number) => new Date(seconds * 1000)

/** The table of RFC 6238 for SHA-1, whose codes of eight digits end with those of six. */
const vectors: [seconds: number, code: string][] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]

suite('the codes of an app', () => {
  for (const [seconds, code] of vectors) {
    test(`are those of RFC 6238 at ${seconds} s`, () => {
      assert.equal(stepOfCode(secret, code.slice(-6), at(seconds)), Math.floor(seconds / 30))
      assert.equal(codeAt(secret, at(seconds)), code.slice(-6), 'the app of the tests agrees')
    })
  }

  const now = 2_000_000_010
  const step = Math.floor(now / 30)
  for (const [periods, allowed] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const) {
    test(`${allowed ? 'count' : 'do not count'} ${periods} periods from now`, () => {
      const code = codeAt(secret, at(now + periods * 30))
      assert.equal(stepOfCode(secret, code, at(now)), allowed ? step + periods : undefined)
    })
  }

  test('change at the very second of the period', () => {
    const code = codeAt(secret, at(300))
    const counted = [269, 270, 299, 300, 329, 330, 359, 360].map((seconds) => stepOfCode(secret, code, at(seconds)))
    assert.deepEqual(counted, [undefined, 10, 10, 10, 10, 10, 10, undefined])
  })

  const right = codeAt(secret, at(now))
  const others: [string, string][] = [
    ['other digits', String((Number(right) + 1) % 1_000_000).padStart(6, '0')],
    ['no digits', ''],
    ['five digits', right.slice(1)],
    ['seven digits', `0${right}`],
    ['a space before them', ` ${right.slice(1)}`],
    ['letters', 'abcdef'],
    ['a sign', `+${right.slice(1)}`],
    ['digits of another script', [...right].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('')],
    ['wide digits', [...right].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')],
    ['the code of SHA-256', codeAt(secret, at(now), 'sha256')],
  ]
  for (const [name, code] of others) {
    test(`do not count as ${name}`, () => assert.equal(stepOfCode(secret, code, at(now)), undefined))
  }
})

suite('the secret of an app', () => {
  test('is 160 bits in base32, and never the same', () => {
    const secrets = Array.from({ length: 100 }, makeTotpSecret)
    for (const made of secrets) assert.match(made, /^[A-Z2-7]{32}$/)
    assert.equal(new Set(secrets).size, 100)
  })

  test('is in the address for the QR code, with what every app supports, whatever the account is called', () => {
    const account = 'a&secret=B@example.com'
    const url = new URL(totpUri(secret, { issuer: 'Sallyport (id.example.com)', account }))
    assert.equal(`${url.protocol}//${url.host}`, 'otpauth://totp')
    assert.equal(decodeURIComponent(url.pathname.slice(1)), `Sallyport (id.example.com):${account}`)
    assert.deepEqual(Object.fromEntries(url.searchParams), {
      issuer: 'Sallyport (id.example.com)',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })
})
