import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AccountTraits } from '../policy-engine/cedar/reading.ts'
import { type AccountKind, asIfIn, everyKind, maxKinds } from './account-kind.ts'

const unit = 'ou-ab12-12345678'
const kind = (some: Partial<AccountKind>): AccountKind => ({
  account_id: null,
  tags: {},
  organizational_unit_ids: [],
  ...some,
})
const nowhere = kind({})
const traits: AccountTraits = { account_ids: [], unit_ids: [], tags: [] }

suite('the kinds of account', () => {
  const rows: [sentence: string, cached: AccountKind[], named: Partial<AccountTraits>, kinds: AccountKind[]][] = [
    ['are no account at all in an empty cache', [], {}, [nowhere]],
    ['hold an account without tags and units once', [nowhere], {}, [nowhere]],
    ['are those of the cache', [kind({ tags: { env: 'a' } })], {}, [nowhere, kind({ tags: { env: 'a' } })]],
    [
      'are each account that a rule names, cached or not',
      [kind({ account_id: '111111111111', tags: { env: 'a' } })],
      { account_ids: ['111111111111', '222222222222'] },
      [nowhere, kind({ account_id: '111111111111', tags: { env: 'a' } }), kind({ account_id: '222222222222' })],
    ],
    [
      'are each unit that a rule names, with cached accounts or not',
      [kind({ organizational_unit_ids: [unit] })],
      { unit_ids: [unit, 'ou-ab12-87654321'] },
      [nowhere, kind({ organizational_unit_ids: [unit] }), kind({ organizational_unit_ids: ['ou-ab12-87654321'] })],
    ],
    ['leave out what no account and no unit can be', [], { account_ids: ['1'], unit_ids: ['everything'] }, [nowhere]],
  ]
  for (const [sentence, cached, named, kinds] of rows)
    test(sentence, () => assert.deepEqual(everyKind(cached, { ...traits, ...named }), kinds))

  test('are too many above their maximum, no account at all included', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => kind({ tags: { n: String(index) } }))
    assert.equal(everyKind(many(maxKinds - 1), traits).length, maxKinds)
    assert.equal(everyKind(many(maxKinds), traits), 'too_many')
  })
})

test('a resource as if in an account of a kind has its tags, its units, and its number where rules name it', () => {
  const bucket = { type: 'cloud_storage_bucket', id: 'logs' } as const
  const units = [{ type: 'cloud_organizational_unit', id: unit }]
  const some = { tags: { env: 'a' }, organizational_unit_ids: [unit] }
  const expected = { ...bucket, name: 'logs', tags: { env: 'a' }, as_if: 'unnamed' }
  assert.deepEqual(asIfIn(bucket, kind(some), 'unnamed'), { ...expected, parents: units })
  assert.deepEqual(asIfIn(bucket, kind({ ...some, account_id: '111111111111' }), 'unnamed'), {
    ...expected,
    parents: [{ type: 'cloud_account', id: '111111111111' }, ...units],
  })
})
