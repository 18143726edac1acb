import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feedLength, markOf, openChangeFeed, type Place, type PlacedSubject } from './change-feed.ts'

/** A feed over an array of events, which a test extends; it counts the reads. */
function feedOver(events: PlacedSubject[]) {
  const seen = { reads: 0, grown: 0 }
  const read = async (after: Place | undefined) => {
    seen.reads += 1
    const newer = events.filter(({ seq }) => after === undefined || Number(seq) > Number(after.seq))
    return after === undefined ? newer.slice(-feedLength) : newer.slice(0, feedLength)
  }
  const feed = openChangeFeed(read, () => {
    seen.grown += 1
  })
  return { feed, seen, add: (count: number) => events.push(...made(count, events.length)) }
}

function made(count: number, from = 0): PlacedSubject[] {
  return Array.from({ length: count }, (_, index) => {
    const id = String(from + index + 1)
    return {
      ...({ id, xid: '7', seq: id, type: 'policy.updated', owner: null, grants: null } as const),
      ...{ subject_type: 'policy', subject_id: `p${id}` },
    }
  })
}

const idsOf = (feed: ReturnType<typeof feedOver>['feed'], position: number) =>
  feed.after(position)?.map(({ changes }) => changes[0]?.id)

test('begins with the newest events, and goes on after them', async () => {
  const { feed, seen, add } = feedOver(made(3))
  assert.equal(feed.place(), undefined)
  assert.equal(await feed.refresh(), false)
  assert.deepEqual([feed.end(), feed.lastMark()], [3, markOf('3')])
  const end = feed.end()
  add(2)
  await feed.refresh()
  assert.deepEqual(idsOf(feed, end), ['p4', 'p5'])
  assert.deepEqual(feed.place(), { xid: '7', seq: '5' })
  await feed.refresh()
  assert.deepEqual(seen, { reads: 3, grown: 2 })
})

test('keeps a bounded number of events, however many come: a position before them has missed some', async () => {
  const { feed, add } = feedOver(made(1))
  await feed.refresh()
  const end = feed.end()
  add(feedLength)
  assert.equal(await feed.refresh(), true)
  assert.equal(feed.after(end)?.length, feedLength)
  add(1)
  assert.equal(await feed.refresh(), false)
  assert.equal(feed.after(end), undefined)
  assert.equal(feed.after(end + 1)?.length, feedLength)
  assert.deepEqual(feed.after(feed.end()), [])
})

test('finds the position after an event, also when only another process has read it', async () => {
  const { feed, seen, add } = feedOver(made(3))
  await feed.refresh()
  assert.equal(await feed.find(markOf('2')), 2)
  assert.equal(seen.reads, 1)
  add(1)
  assert.equal(await feed.find(markOf('4')), 4)
  assert.equal(await feed.find(markOf('made up')), undefined)
  add(feedLength)
  await feed.refresh()
  assert.equal(await feed.find(markOf('2')), undefined)
})

test('a tenant without events has a place and a mark, which is found nowhere', async () => {
  const { feed, add } = feedOver([])
  await feed.refresh()
  assert.deepEqual([feed.place(), feed.end()], [{ xid: '0', seq: '0' }, 0])
  assert.equal(await feed.find(feed.lastMark()), undefined)
  add(1)
  await feed.refresh()
  assert.deepEqual(idsOf(feed, 0), ['p1'])
})

test('reads one after another, and many who wait share one', async () => {
  const { feed, seen, add } = feedOver(made(1))
  await Promise.all(Array.from({ length: 50 }, () => feed.refresh()))
  assert.equal(seen.reads, 1)
  const first = feed.refresh()
  await Promise.resolve()
  add(1)
  await Promise.all([first, feed.refresh(), feed.refresh()])
  assert.ok(seen.reads <= 3)
  assert.equal(feed.end(), 2)
})

test('a read that fails is reported to its callers, and the next one works', async () => {
  let fails = true
  const feed = openChangeFeed(
    async () => {
      if (fails) throw new Error('not now')
      return made(1)
    },
    () => undefined,
  )
  await assert.rejects(feed.refresh(), /not now/)
  fails = false
  await feed.refresh()
  assert.equal(feed.end(), 1)
})
