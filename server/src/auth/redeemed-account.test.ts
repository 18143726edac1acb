import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proofIn, readAccount } from './redeemed-account.ts'

test('the name of an account is one that can be seen, from the token or else from the user info', () => {
  const trust = { subject_claim: 'sub', email_trust: 'claim' } as const
  const nameOf = (token: unknown, info?: unknown) =>
    readAccount('https://id.example.com', { sub: 'ada', name: token }, { name: info }, trust).name
  const cases: [token: unknown, info: unknown, name: string | undefined][] = [
    ['Ada', 'Eve', 'Ada'],
    [' Ada\n\u202eL. ', undefined, 'Ada L.'],
    [undefined, 'Ada', 'Ada'],
    ['', 'Ada', 'Ada'],
    ['\u3164\u2800\u200b\u0301', 'Ada', 'Ada'],
    ['\u{e0041}', ' ', undefined],
    [7, ['Ada'], undefined],
    [`${'\u200b'.repeat(200)}Ada`, undefined, undefined],
    ['A'.repeat(201), undefined, 'A'.repeat(200)],
  ]
  for (const [token, info, name] of cases) assert.equal(nameOf(token, info), name, JSON.stringify([token, info]))
})

const account = (claims: object, info: object = {}) => {
  const trust = { subject_claim: 'sub', email_trust: 'claim' } as const
  return readAccount('https://id.example.com', { sub: 'ada', ...claims }, { ...info }, trust)
}

test('the proof of a sign-in leaves out what is malformed', () => {
  const moment = new Date('2027-01-15T08:00:00.500Z')
  const cases: [claims: object, amr: string[], auth_time: Date | undefined, sid: string | undefined][] = [
    [{}, [], undefined, undefined],
    [{ amr: ['pwd', 'otp'], auth_time: 1_800_000_000.5, sid: 's' }, ['pwd', 'otp'], moment, 's'],
    [{ amr: 'pwd', auth_time: '1800000000', sid: 7 }, [], undefined, undefined],
    [{ amr: { 0: 'pwd' }, auth_time: -1, sid: null }, [], undefined, undefined],
    [
      { amr: ['', 'a b', 7, null, ['pwd'], '\0', 'x'.repeat(101)], auth_time: 253e9, sid: ['s'] },
      [],
      undefined,
      undefined,
    ],
    [
      { amr: ['é', 'urn:x/y.z-1'], auth_time: 0, sid: 's'.repeat(1_000) },
      ['urn:x/y.z-1'],
      new Date(0),
      's'.repeat(1_000),
    ],
    [
      { amr: Array(30).fill('pwd'), auth_time: null, sid: 's'.repeat(1_001) },
      Array(20).fill('pwd'),
      undefined,
      undefined,
    ],
    [{ auth_time: Number.NaN }, [], undefined, undefined],
    [{ auth_time: Number.POSITIVE_INFINITY }, [], undefined, undefined],
  ]
  for (const [claims, amr, auth_time, sid] of cases) {
    const by = { provider: 'p', issuer: 'https://id.example.com', sub: 'ada', sid }
    assert.deepEqual(proofIn(account(claims), 'p'), { amr, auth_time, by }, JSON.stringify(claims))
  }
})

test('the proof of a sign-in is read from the identity token alone', () => {
  const said = { amr: ['mfa'], auth_time: 1_800_000_000, sid: 's' }
  const { amr, auth_time, by } = proofIn(account({}, said), 'p')
  assert.deepEqual([amr, auth_time, by?.sid], [[], undefined, undefined])
  assert.equal(account({}, { tenant: 't' }).claims.tenant, 't')
})
