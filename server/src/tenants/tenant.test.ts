import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordFaults } from '../users/password.ts'
import { makePassword, readDuration, signInHint, tenantNameFault } from './tenant.ts'

test('a generated password has groups for typing, is unique, and passes the password rules', () => {
  const made = Array.from({ length: 50 }, makePassword)
  for (const password of made) {
    assert.match(password, /^([2-9a-km-np-z]{5}-){3}[2-9a-km-np-z]{5}$/)
    assert.equal(passwordFaults(password, { min_length: 23 }), undefined)
  }
  assert.equal(new Set(made).size, made.length)
})

test('a duration is given in minutes, hours or days', () => {
  const cases: Record<string, number | undefined> = {
    '30m': 1800,
    '12h': 43_200,
    '7d': 604_800,
    '0d': undefined,
    '7': undefined,
    d: undefined,
    '7 d': undefined,
    '-7d': undefined,
    '7w': undefined,
    '1000000d': undefined,
  }
  for (const [text, seconds] of Object.entries(cases)) assert.equal(readDuration(text), seconds, text)
})

test('a tenant has a name on one line, of 1 to 200 characters', () => {
  for (const name of ['Acme', 'Müller & Söhne', '😀'.repeat(200)]) assert.equal(tenantNameFault(name), undefined)
  for (const name of ['', '  ', 'a\nb', '\0', 'a\u202eb', 'a\u200f', 'a\u2028b', 'a'.repeat(201)])
    assert.ok(tenantNameFault(name), JSON.stringify(name))
})

test('an owner who cannot sign in gets a hint until when, and how that ends', () => {
  const owner = { user_id: '0190', email: 'b@example.com', active: true, suspended_until: null }
  const until = '2026-03-01T08:00:00.000Z'
  assert.equal(signInHint(owner), undefined)
  assert.equal(
    signInHint({ ...owner, suspended_until: until }),
    '`b@example.com` is suspended until 2026-03-01T08:00:00.000Z and cannot sign in before: ' +
      'a user who holds every scope of the owner ends that with POST /v1/users/0190/unsuspend',
  )
  assert.equal(
    signInHint({ ...owner, active: false, suspended_until: until }),
    '`b@example.com` is deactivated and cannot sign in: ' +
      'a user who holds every scope of the owner reactivates them with PATCH /v1/users/0190',
  )
})
