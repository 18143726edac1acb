import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { changedFields, type Placed, type Policy, reorder, requireDistinctIds } from './policy.ts'

/** `a1 b2` for a on place 1 and b on place 2. */
const placed = (text: string): Placed[] =>
  text.split(' ').flatMap((word) => (word === '' ? [] : [{ id: word.charAt(0), place: Number(word.slice(1)) }]))
const written = (moves: Placed[] | undefined) => moves?.map(({ id, place }) => `${id}${place}`).join(' ')

const reorderings: [name: string, current: string, ids: string, moves: string | undefined][] = [
  ['turns all of them round', 'a0 b1 c2', 'cba', 'c0 a2'],
  ['uses the places that the listed ones hold, and no other', 'a0 b5 c9 d20', 'db', 'd5 b20'],
  ['leaves the others where they stand, between the listed ones too', 'a0 b1 c2 d3 e4', 'eca', 'e0 a4'],
  ['moves nothing for the order that is there', 'a0 b1 c2', 'abc', ''],
  ['moves nothing for one alone', 'a0 b1', 'b', ''],
  ['keeps shared places that say the order by themselves', 'a1 b1 c2', 'cb', 'c1 b2'],
  ['numbers afresh where a shared place cannot say the order', 'a5 b5', 'ba', 'b0 a1'],
  ['numbers the others afresh too, each in its place', 'a3 b3 c3 d9', 'ca', 'c0 b1 a2 d3'],
  ['numbers afresh where a listed one would tie with another on the wrong side', 'b1 c1 z2', 'zb', 'z0 b2'],
  ['knows no id that is not there', 'a0 b1', 'ax', undefined],
  ['knows none where there is nothing', '', 'a', undefined],
]

suite('a reordering', () => {
  for (const [name, current, ids, moves] of reorderings) {
    test(name, () => assert.equal(written(reorder(placed(current), [...ids])), moves))
  }

  test('leaves the order that was asked for, whatever shares a place', () => {
    for (let round = 0; round < 500; round += 1) {
      const random = (below: number) => (round * 7919 + 104_729 * (below + round)) % below
      const current = placed([...'abcdefg'].map((id, index) => `${id}${random(index + 2)}`).join(' ')).sort(byPlace)
      const ids = [...'gbd', ...'ca'].slice(0, 1 + random(5))
      const moved = new Map(reorder(current, ids)?.map(({ id, place }) => [id, place]))
      const after = current.map(({ id, place }) => ({ id, place: moved.get(id) ?? place })).sort(byPlace)
      const coming = ids.values()
      const wanted = current.map(({ id }) => (ids.includes(id) ? coming.next().value : id))
      assert.deepEqual(
        after.map(({ id }) => id),
        wanted,
      )
    }
  })
})

function byPlace(a: Placed, b: Placed): number {
  return a.place - b.place || (a.id < b.id ? -1 : 1)
}

suite('the ids of a reordering', () => {
  const [one, other] = [newId(), newId()]
  const faultsOf = (ids: string[]) => {
    try {
      requireDistinctIds(ids)
    } catch (thrown) {
      if (thrown instanceof Problem) return pointersOf(thrown)
      throw thrown
    }
    return []
  }

  const pointersOf = ({ details = {} }: Problem) =>
    (details.fields as { pointer: string }[]).map(({ pointer }) => pointer)

  test('stay in their order', () => assert.deepEqual(requireDistinctIds([other, one]), [other, one]))
  test('may be in upper case', () => assert.deepEqual(requireDistinctIds([one.toUpperCase()]), [one]))
  test('are each there once', () => assert.deepEqual(faultsOf([one, other, one]), ['/ids/2']))
  test('are each there once, whatever their case', () =>
    assert.deepEqual(faultsOf([one, one.toUpperCase()]), ['/ids/1']))
  test('are uuids', () => assert.deepEqual(faultsOf([one, 'x']), ['/ids/1']))
  test('get a short answer to many faults', () => assert.equal(faultsOf(Array<string>(10_000).fill(one)).length, 20))
})

suite('a change of a policy', () => {
  const policy = { name: 'Production', description: '', enabled: true } as Policy
  test('touches the fields that get another value', () => {
    assert.deepEqual(changedFields(policy, { name: 'Prod', description: '', enabled: false }), ['name', 'enabled'])
  })
  test('touches nothing where nothing is sent', () => assert.deepEqual(changedFields(policy, {}), []))
  test('may empty the description', () => {
    assert.deepEqual(changedFields({ ...policy, description: 'x' }, { description: '' }), ['description'])
  })
})
