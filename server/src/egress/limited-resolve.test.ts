import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/wait.ts'
import { limitedResolve } from './limited-resolve.ts'

test('two names are looked up at once; a third fails with `EAI_AGAIN` after its wait, and a later one gets the free place', async () => {
  const under: { host: string; find(): void }[] = []
  const resolve = limitedResolve((host) => {
    const { promise, resolve: find } = Promise.withResolvers<{ address: string; family: number }[]>()
    under.push({ host, find: () => find([{ address: '192.0.2.1', family: 4 }]) })
    return promise
  }, 50)
  const [slow, found] = [resolve('slow.example'), resolve('found.example')]
  await assert.rejects(resolve('waits.example'), { code: 'EAI_AGAIN' })
  const next = resolve('next.example')
  under[1]?.find()
  assert.deepEqual(await found, [{ address: '192.0.2.1', family: 4 }])
  await until('the next lookup begins', async () => under.length === 3)
  assert.deepEqual(
    under.map(({ host }) => host),
    ['slow.example', 'found.example', 'next.example'],
  )
  for (const one of under) one.find()
  await Promise.all([slow, next])
})

test('a name that is not found fails with `ENOTFOUND`', async () => {
  const resolve = limitedResolve(() => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })))
  await assert.rejects(resolve('nobody.example'), { code: 'ENOTFOUND' })
})
