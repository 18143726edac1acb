import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLruCache } from './lru-cache.ts'

test('keeps entries in use, evicts others, and holds at most twice the limit', () => {
  const cache = createLruCache<number>(10)
  cache.set('used', 0)
  for (let key = 1; key <= 1_000; key += 1) {
    cache.set(`${key}`, key)
    assert.equal(cache.get('used'), 0)
  }
  const kept = Array.from({ length: 1_000 }, (_, index) => cache.get(`${index + 1}`)).filter((one) => one !== undefined)
  assert.ok(kept.length >= 9 && kept.length <= 20, `${kept.length} are kept`)
  assert.ok(kept.includes(1_000))
})

test('a deleted entry is gone, and an entry that is set again has its new value', () => {
  const cache = createLruCache<string>(2)
  for (const key of ['a', 'b', 'c']) cache.set(key, 'old')
  cache.delete('a')
  cache.set('b', 'new')
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    [undefined, 'new', 'old'],
  )
})

test('an unused value is reported as evicted once, and a kept value never', () => {
  const evicted: number[] = []
  const cache = createLruCache<number>(10, (value) => evicted.push(value))
  cache.set('used', 0)
  for (let key = 1; key <= 1_000; key += 1) {
    cache.set(`${key}`, key)
    cache.get('used')
  }
  const kept = Array.from({ length: 1_000 }, (_, index) => cache.get(`${index + 1}`) ?? [])
    .flat()
    .filter((one) => !evicted.includes(one))
  assert.equal(new Set(evicted).size, evicted.length)
  assert.ok(!evicted.includes(0))
  assert.equal(kept.length + evicted.length, 1_000)
})
