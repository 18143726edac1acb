import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { requireFutureEnd, requireKeyScopes } from './api-key.ts'

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
    ['may be none', [], undefined],
    ['may be all of the maker', [...maker], undefined],
    ['may not be more than the maker holds (P4)', ['users:read', 'roles:read'], 'forbidden'],
    ['must exist', ['users:read', 'users:fly'], 'unprocessable'],
    ['must exist, before anything is said of the maker', ['roles:read', 'users:fly'], 'unprocessable'],
    ['are no patterns', ['users:*'], 'unprocessable'],
  ]
  for (const [name, asked, code] of cases) {
    test(name, () =>
      assert.equal(
        codeOf(() => requireKeyScopes(maker, asked)),
        code,
      ),
    )
  }
  test('are kept once each', () => {
    assert.deepEqual(requireKeyScopes(maker, ['users:read', 'users:read']), ['users:read'])
  })
})

suite('the end of a new key', () => {
  const now = new Date('2026-05-01T12:00:00.000Z')
  const cases: [string, string | null, string | undefined][] = [
    ['may be none', null, undefined],
    ['may be a moment away', '2026-05-01T12:00:00.001Z', undefined],
    ['may be told in another zone', '2026-05-01T14:00:01+02:00', undefined],
    ['is not now: equal is expired (A9)', '2026-05-01T12:00:00Z', 'invalid_input'],
    ['is not past', '2026-05-01T11:59:59Z', 'invalid_input'],
    ['is a moment', 'tomorrow', 'invalid_input'],
  ]
  for (const [name, end, code] of cases) {
    test(name, () =>
      assert.equal(
        codeOf(() => requireFutureEnd(end, now)),
        code,
      ),
    )
  }
  test('is kept in UTC', () => {
    assert.equal(requireFutureEnd('2026-05-01T14:00:01+02:00', now), '2026-05-01T12:00:01.000Z')
  })
})
