import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exceptionsOf, joined, type Preflight, saidCounts } from './preflight.ts'

const counts = { people: 0, known: 0, added: 0, adopted: 0, to_settle: 0, left_out: 0, refused: 0 }
const person = (user_name: string, match: Preflight['people'][number]['match'], not_found_at: string[] = []) => ({
  ...{ user_name, external_id: null, match, user_id: null, message: null, not_found_at },
})
const target = (not_found: number) => ({ provisioner_id: 'p1', name: 'AWS', not_found })

test('the parts of a list say one thing', () => {
  const [ada, bob] = [person('ada', 'known'), person('bob', 'settle', ['p1'])]
  const all = joined([
    { counts: { ...counts, people: 1, known: 1 }, targets: [target(0)], people: [ada] },
    { counts: { ...counts, people: 1, to_settle: 1 }, targets: [target(1)], people: [bob] },
  ])
  assert.deepEqual(all, {
    counts: { ...counts, people: 2, known: 1, to_settle: 1 },
    targets: [target(1)],
    people: [ada, bob],
  })
})

test('only counts that say something are said, in one order', () => {
  assert.deepEqual(saidCounts({ ...counts, people: 9, refused: 1, known: 8 }), [
    ['known', 8],
    ['refused', 1],
  ])
})

test('a person looks at those who would not simply be a user, or are missing at a target', () => {
  const people = [
    person('known', 'known'),
    person('new', 'add'),
    person('missing', 'add', ['p1']),
    person('settle', 'settle'),
    person('apart', 'left_out'),
    person('refused', 'refused'),
  ]
  assert.deepEqual(
    exceptionsOf({ people }).map(({ user_name }) => user_name),
    ['missing', 'settle', 'apart', 'refused'],
  )
})
