import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { Problem } from '../kernel/errors.ts'
import {
  type NewApiKeyInput,
  requireEndWithin,
  requireFutureEnd,
  requireKeyReach,
  requireKeyScopes,
  requireMayMakeScimKey,
  scimMakerScopes,
} from './api-key.ts'

function codeOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (thrown) {
    assert.ok(thrown instanceof Problem, String(thrown))
    return thrown.code
  }
}

suite('the scopes of a new key', () => {
  const maker = new Set(['users:read', 'users:write', 'api_keys:write'])
  const cases: [string, string[], string | undefined][] = [
    ['can be none', [], undefined],
    ['can be all of the creator', [...maker], undefined],
    ['cannot be more than the creator holds (P4)', ['users:read', 'roles:read'], 'forbidden'],
    ['must exist', ['users:read', 'users:fly'], 'unprocessable'],
    ['must exist, which is checked before the creator', ['roles:read', 'users:fly'], 'unprocessable'],
    ['cannot be patterns', ['users:*'], 'unprocessable'],
  ]
  for (const [name, requested, code] of cases) {
    test(name, () =>
      assert.equal(
        codeOf(() => requireKeyScopes(maker, requested)),
        code,
      ),
    )
  }
  test('are stored once each', () => {
    assert.deepEqual(requireKeyScopes(maker, ['users:read', 'users:read']), ['users:read'])
  })
})

suite('the reach of a new key', () => {
  const maker = new Set(['users:read', 'api_keys:write', 'identity_providers:write'])
  const identity_provider_id = '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'
  const api = { name: 'ci', scopes: ['users:read'] }
  const scim = { name: 'scim', identity_provider_id }

  test('is the API, with the requested scopes, when no identity provider is named', () => {
    assert.deepEqual(requireKeyReach(maker, api), { kind: 'api', scopes: ['users:read'] })
  })

  for (const scopes of [{}, { scopes: ['scim:provision'] }]) {
    test(`is SCIM only, when one is named ${'scopes' in scopes ? 'with' : 'without'} the scope, which no user holds`, () => {
      const reach = { kind: 'scim', scopes: ['scim:provision'], identity_provider_id }
      assert.deepEqual(requireKeyReach(maker, { ...scim, ...scopes }), reach)
    })
  }

  const refused: [string, ReadonlySet<string>, NewApiKeyInput, string][] = [
    ['must be named by scopes or an identity provider', maker, { name: 'ci' }, 'invalid_input'],
    ['cannot be SCIM without an identity provider (P4)', maker, { ...api, scopes: ['scim:provision'] }, 'forbidden'],
    ['cannot be both', maker, { ...scim, scopes: ['scim:provision', 'users:read'] }, 'unprocessable'],
    ['cannot be the API with an identity provider', maker, { ...scim, scopes: ['users:read'] }, 'unprocessable'],
    ['cannot be empty with an identity provider', maker, { ...scim, scopes: [] }, 'unprocessable'],
  ]
  for (const [name, holder, input, code] of refused) {
    test(name, () =>
      assert.equal(
        codeOf(() => requireKeyReach(holder, input)),
        code,
      ),
    )
  }
})

suite('the creator of a SCIM key', () => {
  const [keys, providers, users, groups] = scimMakerScopes
  const cases: [string, string[], string[], string[]][] = [
    ['needs the scopes to write keys, providers, users and groups', [...scimMakerScopes], [], []],
    ['needs no scope for SCIM itself', [...scimMakerScopes, 'users:read'], [], []],
    ['cannot lack the scope of keys', [providers, users, groups], [], [keys]],
    ['cannot lack the scope of providers (P4)', [keys, users, groups], [], [providers]],
    ['cannot lack the scope of users', [keys, providers, groups], [], [users]],
    ['cannot lack the scope of groups', [keys, providers, users], [], [groups]],
    ['needs what the groups give', [...scimMakerScopes, 'roles:write'], ['roles:write', users], []],
    [
      'gets all lacking scopes named, each once',
      [keys, users],
      ['roles:write', groups],
      [providers, groups, 'roles:write'],
    ],
  ]
  for (const [name, held, conferred, lacking] of cases) {
    test(name, () => {
      const make = () => requireMayMakeScimKey(new Set(held), conferred)
      if (lacking.length === 0) return make()
      const { code, details } = problemOf(make)
      assert.deepEqual([code, details], ['forbidden', { scopes: lacking }])
    })
  }
})

suite('the end of a new key', () => {
  const now = new Date('2026-05-01T12:00:00.000Z')
  const cases: [string, string | null, string | undefined][] = [
    ['can be none', null, undefined],
    ['can be a millisecond away', '2026-05-01T12:00:00.001Z', undefined],
    ['can be given in another time zone', '2026-05-01T14:00:01+02:00', undefined],
    ['cannot be now: equal is expired (A9)', '2026-05-01T12:00:00Z', 'invalid_input'],
    ['cannot be in the past', '2026-05-01T11:59:59Z', 'invalid_input'],
    ['must be a time', 'tomorrow', 'invalid_input'],
  ]
  for (const [name, end, code] of cases) {
    test(name, () =>
      assert.equal(
        codeOf(() => requireFutureEnd(end, now)),
        code,
      ),
    )
  }
  test('is stored in UTC', () => {
    assert.equal(requireFutureEnd('2026-05-01T14:00:01+02:00', now), '2026-05-01T12:00:01.000Z')
  })
})

test('a key cannot outlive the key that creates it', () => {
  const [soon, later] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']
  assert.equal(requireEndWithin(soon, later), soon)
  assert.equal(requireEndWithin(later, later), later)
  assert.equal(requireEndWithin(null, null), null)
  assert.equal(requireEndWithin(later, null), later)
  assert.throws(() => requireEndWithin(later, soon), /cannot outlive/)
  assert.throws(() => requireEndWithin(null, soon), /cannot outlive/)
})
