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
  ['reverses all items', 'a0 b1 c2', 'cba', 'c0 a2'],
  ['uses only the places of the listed items', 'a0 b5 c9 d20', 'db', 'd5 b20'],
  ['leaves all other items in place, also those between the listed ones', 'a0 b1 c2 d3 e4', 'eca', 'e0 a4'],
  ['moves nothing for the current order', 'a0 b1 c2', 'abc', ''],
  ['moves nothing for a single item', 'a0 b1', 'b', ''],
  ['keeps shared places if they can express the order', 'a1 b1 c2', 'cb', 'c1 b2'],
  ['renumbers if a shared place cannot express the order', 'a5 b5', 'ba', 'b0 a1'],
  ['renumbers the other items too, in their order', 'a3 b3 c3 d9', 'ca', 'c0 b1 a2 d3'],
  ['renumbers if a listed item would tie with another on the wrong side', 'b1 c1 z2', 'zb', 'z0 b2'],
  ['returns undefined for an unknown id', 'a0 b1', 'ax', undefined],
  ['returns undefined if there are no items', '', 'a', undefined],
]

suite('a reordering', () => {
  for (const [name, current, ids, moves] of reorderings) {
    test(name, () => assert.equal(written(reorder(placed(current), [...ids])), moves))
  }

  test('gives the requested order whichever items share a place', () => {
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
  test('are refused if an id occurs twice', () => assert.deepEqual(faultsOf([one, other, one]), ['/ids/2']))
  test('are refused if an id occurs twice in different case', () =>
    assert.deepEqual(faultsOf([one, one.toUpperCase()]), ['/ids/1']))
  test('are refused if one is not a uuid', () => assert.deepEqual(faultsOf([one, 'x']), ['/ids/1']))
  test('get at most 20 faults in the answer', () => assert.equal(faultsOf(Array<string>(10_000).fill(one)).length, 20))
})

suite('a change of a policy', () => {
  const policy = { name: 'Production', description: '', enabled: true } as Policy
  test('contains the fields that get another value', () => {
    assert.deepEqual(changedFields(policy, { name: 'Prod', description: '', enabled: false }), ['name', 'enabled'])
  })
  test('is empty if no field is sent', () => assert.deepEqual(changedFields(policy, {}), []))
  test('may empty the description', () => {
    assert.deepEqual(changedFields({ ...policy, description: 'x' }, { description: '' }), ['description'])
  })
})
