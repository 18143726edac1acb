import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { loadNextPage } from '../parts/next-page.ts'
import { refresh } from './refresh.ts'

/** A list of two pages, of which the first is shown; a call is answered when the test says so. */
async function openList() {
  const queries = new QueryClient()
  const calls: { page: number; answer: () => void; fail: () => void }[] = []
  const called = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => (calls.length >= count ? resolve() : setImmediate(look))
      look()
    })
  const list = new InfiniteQueryObserver(queries, {
    queryKey: ['notification', 'list'],
    queryFn: ({ pageParam: page }) =>
      new Promise<{ page: number; call: number }>((resolve, reject) => {
        const call = calls.length
        calls.push({ page, answer: () => resolve({ page, call }), fail: () => reject(new Error('lost')) })
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page < 2 ? last.page + 1 : null),
    staleTime: Number.POSITIVE_INFINITY,
    networkMode: 'always',
    retry: false,
  })
  const leave = list.subscribe(() => undefined)
  await called(1)
  calls[0]?.answer()
  await list.getCurrentQuery().promise
  const shown = () => list.getCurrentResult().data?.pages.map(({ page, call }) => [page, call])
  const end = () => {
    leave()
    queries.clear()
  }
  return { queries, list, calls, called, shown, end }
}

/** The same, loaded again while its second page loads. */
async function reloadGrowing() {
  const opened = await openList()
  const more = opened.list.fetchNextPage()
  await opened.called(2)
  refresh(opened.queries, () => true)
  return { ...opened, more }
}

suite('a reload while a further page loads', () => {
  test('lets the page come, and then loads the whole list again', async () => {
    const { list, more, calls, called, shown, end } = await reloadGrowing()
    calls[1]?.answer()
    await called(3)
    assert.deepEqual(shown(), [
      [1, 0],
      [2, 1],
    ])
    for (const count of [3, 4]) {
      await called(count)
      calls[count - 1]?.answer()
    }
    await more
    await list.getCurrentQuery().promise
    assert.deepEqual(shown(), [
      [1, 2],
      [2, 3],
    ])
    end()
  })

  test('loads the list again where the page does not come', async () => {
    const { list, more, calls, called, shown, end } = await reloadGrowing()
    calls[1]?.fail()
    await more
    await called(3)
    calls[2]?.answer()
    await list.getCurrentQuery().promise
    assert.deepEqual(shown(), [[1, 2]])
    end()
  })

  test('a page that is asked for during a reload comes after it, and once', async () => {
    const { queries, list, calls, called, shown, end } = await openList()
    refresh(queries, () => true)
    await called(2)
    const more = loadNextPage(list.getCurrentResult())
    calls[1]?.answer()
    await called(3)
    calls[2]?.answer()
    await more
    assert.deepEqual(shown(), [
      [1, 1],
      [2, 2],
    ])
    assert.equal(calls.length, 3)
    end()
  })
})
