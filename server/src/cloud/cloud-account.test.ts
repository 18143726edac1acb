import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import {
  cloudAccountOf,
  findMetadataFault,
  maxMetadata,
  maxUnits,
  policyViewOf,
  requireSoundEntries,
} from './cloud-account.ts'

const unit = 'ou-ab12-12345678'

suite('the metadata of an entry', () => {
  /** `{"n":"…"}` of this many bytes. */
  const metadataOf = (bytes: number) => ({ n: 'x'.repeat(bytes - 8) })
  const sound: [string, Record<string, unknown>][] = [
    ['nothing', {}],
    ['16 KiB', metadataOf(maxMetadata)],
    ['its units', { organizational_unit_ids: [unit] }],
    ['no unit', { organizational_unit_ids: [] }],
    ['16 units', { organizational_unit_ids: Array(maxUnits).fill(unit) }],
    ['`__` inside', { a: { __b: 1 } }],
  ]
  for (const [what, metadata] of sound) {
    test(`may hold ${what}`, () => assert.equal(findMetadataFault(metadata), undefined))
  }
  const faulty: [string, Record<string, unknown>, string][] = [
    ['a byte more than 16 KiB', metadataOf(maxMetadata + 1), ''],
    ['more than 16 KiB once it is UTF-8', { n: '€'.repeat(maxMetadata / 2) }, ''],
    ['a name that the policy engine reserves', { '__extn/~': 'x' }, '/__extn~1~0'],
    ['17 units', { organizational_unit_ids: Array(maxUnits + 1).fill(unit) }, '/organizational_unit_ids'],
    ['a unit outside of a list', { organizational_unit_ids: unit }, '/organizational_unit_ids'],
    ['null for units', { organizational_unit_ids: null }, '/organizational_unit_ids'],
    ['a number as unit', { organizational_unit_ids: [unit, 7] }, '/organizational_unit_ids/1'],
    ['a unit in upper case', { organizational_unit_ids: ['OU-AB12-12345678'] }, '/organizational_unit_ids/0'],
    ['a unit with a line feed at its end', { organizational_unit_ids: [`${unit}\n`] }, '/organizational_unit_ids/0'],
  ]
  for (const [what, metadata, pointer] of faulty) {
    test(`may not hold ${what}`, () => assert.equal(findMetadataFault(metadata)?.pointer, pointer))
  }
})

suite('the entries of one call', () => {
  const faultsOf = (entries: { id: string; account_id: string; metadata?: Record<string, unknown> }[]) => {
    try {
      requireSoundEntries(entries)
      return []
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      const { fields } = thrown.details as { fields: { pointer: string }[] }
      return fields.map(({ pointer }) => pointer)
    }
  }

  test('R8 name each id once: a repetition is refused with its pointer', () => {
    const entries = ['a', 'b', 'a', 'b'].map((id) => ({ id, account_id: '1' }))
    assert.deepEqual(faultsOf(entries), ['/resources/2/id', '/resources/3/id'])
  })

  test('may name one account number several times, and ids that differ in case', () => {
    assert.deepEqual(
      faultsOf([
        { id: 'a', account_id: '1' },
        { id: 'A', account_id: '1' },
      ]),
      [],
    )
  })

  test('say where the faulty metadata is', () => {
    const metadata = { organizational_unit_ids: ['x'] }
    assert.deepEqual(faultsOf([{ id: 'a', account_id: '1', metadata }]), [
      '/resources/0/metadata/organizational_unit_ids/0',
    ])
  })

  test('are refused with the first faults only', () => {
    assert.equal(faultsOf(Array(5_000).fill({ id: 'a', account_id: '1' })).length, 20)
  })
})

test('an entry without optional fields has its account number as name, no metadata and rank 0', () => {
  assert.deepEqual(cloudAccountOf({ id: 'a', account_id: '123456789012' }), {
    id: 'a',
    name: '123456789012',
    account_id: '123456789012',
    metadata: {},
    rank: 0,
  })
})

suite('what policy may know of an account', () => {
  test('is its name, the top-level strings of its metadata, and its units', () => {
    const metadata = {
      env: 'prod',
      empty: '',
      number: 1,
      flag: true,
      nothing: null,
      list: ['x'],
      deep: { env: 'dev' },
      organizational_unit_ids: [unit, 'ou-ab12-87654321', unit],
    }
    assert.deepEqual(policyViewOf({ name: 'Production', metadata }), {
      name: 'Production',
      tags: { env: 'prod', empty: '' },
      organizational_unit_ids: [unit, 'ou-ab12-87654321'],
    })
  })

  test('is nothing else, whatever was stored', () => {
    const metadata = { __extn: 'x', organizational_unit_ids: [{ __entity: 1 }, 'x', 7] }
    assert.deepEqual(policyViewOf({ name: '', metadata }), { name: '', tags: {}, organizational_unit_ids: [] })
    const stringly = policyViewOf({ name: '', metadata: { organizational_unit_ids: unit } })
    assert.deepEqual(stringly.organizational_unit_ids, [])
  })
})
