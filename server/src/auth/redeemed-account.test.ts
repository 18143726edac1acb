import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAccount } from './redeemed-account.ts'

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
