import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairShelf } from './fair-shelf.ts'

/** Puts items of a weight one after another, such as `a1`, and lists what is given up; `!` marks what finds no room. */
function putting(limit: number) {
  let time = 0
  let count = 0
  const shelf = createFairShelf<string>(limit, () => time)
  const put = (owner: string, weight: number, times = 1) =>
    Array.from({ length: times }, () => {
      count += 1
      const name = `${owner}${count}`
      const { evicted, fits } = shelf.makeRoom(owner, weight)
      if (fits) shelf.add(owner, name, name, weight)
      assert.ok(shelf.held() <= limit)
      return [...evicted, ...(fits ? [] : [`!${name}`])]
    }).flat()
  const wait = (ms: number) => {
    time += ms
  }
  return { shelf, put, wait }
}

type Case = { put: [owner: string, weight: number, times?: number][]; gives: string[] }
const cases: Record<string, Case> = {
  'one alone uses all, and gives up its oldest': { put: [['a', 10, 11]], gives: ['a1'] },
  'one over its share gives up its own': {
    put: [
      ['b', 10, 2],
      ['a', 10, 9],
    ],
    gives: ['a3'],
  },
  'a newcomer gets room from the one that holds the most': {
    put: [
      ['a', 10, 10],
      ['b', 10],
    ],
    gives: ['a1'],
  },
  'a newcomer gets room among equal ones': {
    put: [
      ['a', 50],
      ['b', 50],
      ['c', 20],
    ],
    gives: ['a1'],
  },
  'equal ones over their share give up their own': {
    put: [
      ['a', 10, 5],
      ['b', 10, 6],
    ],
    gives: ['b6'],
  },
  'one over its share takes from a higher class': {
    put: [
      ['c', 1],
      ['a', 70],
      ['b', 29],
      ['b', 5],
    ],
    gives: ['a2'],
  },
  'an item over the limit finds no room, and nothing is given up': {
    put: [
      ['a', 60],
      ['b', 101],
    ],
    gives: ['!b2'],
  },
  'a great item of a newcomer costs no one that holds less': {
    put: [
      ['a', 5, 10],
      ['b', 90],
    ],
    gives: ['!b11'],
  },
}

for (const [name, { put, gives }] of Object.entries(cases))
  test(name, () => {
    const shelf = putting(100)
    assert.deepEqual(
      put.flatMap((one) => shelf.put(...one)),
      gives,
    )
  })

test('who has used nothing for a minute gives first, to one within its share', () => {
  const { put, wait, shelf } = putting(100)
  put('idle', 5, 2)
  put('b', 10, 9)
  wait(60_001)
  assert.equal(shelf.get('b', 'b3'), 'b3')
  assert.deepEqual(put('a', 10), ['idle1', 'idle2'])
})

test('one over its share takes nothing of those that have used nothing for a minute', () => {
  const { put, wait, shelf } = putting(1_000)
  put('a', 10, 2)
  put('b', 10, 2)
  wait(60_001)
  put('greedy', 100, 30)
  assert.deepEqual([shelf.get('a', 'a1'), shelf.get('b', 'b4')], ['a1', 'b4'])
})

test('whatever others do, one that holds less than half of a share keeps it', () => {
  const { put, shelf } = putting(1_000)
  put('small', 20, 2)
  const owners = ['a', 'b', 'c', 'd']
  for (let round = 0; round < 2_000; round += 1) {
    const given = put(owners[(round * 7 + (round >> 3)) % 4] ?? 'a', 5 + ((round * 37) % 150))
    assert.ok(!given.some((name) => name.startsWith('small')))
  }
  assert.equal(shelf.get('small', 'small1'), 'small1')
})
