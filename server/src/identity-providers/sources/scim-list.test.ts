import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Asked, type PeerAnswer, pageOf } from '../../../test/support/scim-peer.ts'
import { idsOf, isFault, none, reading, serving, user, users } from '../../../test/support/scim-reading.ts'
import { scimSourceWithin } from './scim-source.ts'

suite('a list that changes while it is read', () => {
  /** A list that a change meets before a page, counted from 1. `max`: of a page. */
  const changing = (change: (all: { id: string }[]) => void, before: number, all: { id: string }[] = users(1, 25)) => {
    let pages = 0
    return (asked: Asked): PeerAnswer => {
      if (asked.path !== '/Users') return { body: none }
      pages += 1
      if (pages === before) change(all)
      return { body: pageOf(all, asked) }
    }
  }

  test('loses nobody to somebody who leaves before the place of the reading', async () => {
    const { people, error } = await reading(changing((all) => all.splice(1, 1), 2))
    assert.equal(error, undefined)
    assert.deepEqual(new Set(idsOf(people)), new Set(idsOf(users(1, 25))))
    assert.equal(people.length, 25, 'everybody once')
  })

  test('nor to one who leaves and another who comes, of whom `totalResults` says nothing', async () => {
    const { people, error } = await reading(
      changing((all) => {
        all.splice(1, 1)
        all.push(user(26))
      }, 2),
    )
    assert.equal(error, undefined)
    assert.deepEqual(new Set(idsOf(people)), new Set(idsOf(users(1, 26))))
  })

  test('nor to somebody who comes', async () => {
    for (const [where, at] of [
      ['before the place', 0],
      ['at the end', 25],
    ] as const) {
      const { people, error } = await reading(changing((all) => all.splice(at, 0, user(26)), 2))
      assert.equal(error, undefined, where)
      assert.deepEqual(new Set(idsOf(people)), new Set(idsOf(users(1, 26))))
    }
  })

  test('is not read where it changes each time', async () => {
    let pages = 0
    const all = users(1, 50)
    const { error } = await reading((asked) => {
      if (asked.path !== '/Users') return { body: none }
      pages += 1
      if (pages % 3 === 2) all.shift()
      return { body: pageOf(all, asked) }
    })
    isFault(error, 'transient', /^`\/Users` changed each time it was read: try again later/)
  })

  test('is not read where the server mixes its entries', async () => {
    let pages = 0
    const { error } = await reading((asked) => {
      if (asked.path !== '/Users') return { body: none }
      pages += 1
      const all = users(1, 25)
      return { body: pageOf([...all.slice(pages), ...all.slice(0, pages)], asked) }
    })
    isFault(error, 'transient', /changed each time/)
  })

  test('is not read where somebody is listed in place of another', async () => {
    const { error } = await reading(serving({ users: [...users(1, 4), ...users(4, 4), ...users(6, 6)] }))
    isFault(error, 'transient', /the server repeats or leaves out entries/)
  })

  test('is not read where a page repeats', async () => {
    const { error, peer } = await reading((asked) => ({
      body: asked.path === '/Users' ? { totalResults: 500, Resources: users(1, 10) } : none,
    }))
    isFault(error, 'transient', /the server repeats or leaves out entries/)
    assert.ok(peer.asked.length < 10, `${peer.asked.length} calls`)
  })

  test('is not read where a page is empty before the end', async () => {
    const { error } = await reading((asked) => {
      const isFirst = asked.query.get('startIndex') === '1'
      return { body: isFirst ? { totalResults: 25, Resources: users(1, 10) } : { totalResults: 25 } }
    })
    isFault(error, 'transient', /changed each time/)
  })

  test('is not read where it has no end', async () => {
    const source = scimSourceWithin({ maxEntries: 100 })
    const { error, peer } = await reading(
      (asked) => {
        const from = Number(asked.query.get('startIndex'))
        return { body: { totalResults: 1_000_000, Resources: users(from, from + 9) } }
      },
      {},
      source,
    )
    isFault(error, 'permanent', /`\/Users` has more than 100 entries/)
    assert.ok(peer.asked.length < 20, `${peer.asked.length} calls`)
  })

  test('is not read where the server counts a page alone', async () => {
    const { error } = await reading((asked) => {
      const { Resources } = pageOf(users(1, 25), asked)
      return { body: { totalResults: Resources.length, Resources } }
    })
    isFault(error, 'permanent', /`totalResults` must count all, not those of a page/)
    const fewer = await reading(() => ({ body: { totalResults: 1, Resources: users(1, 3) } }))
    isFault(fewer.error, 'permanent', /`totalResults` must count all/)
  })
})
