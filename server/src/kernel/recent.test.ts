import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRecent } from './recent.ts'

test('what is used stays, what is not is forgotten, and there are never more than twice the limit', () => {
  const recent = createRecent<number>(10)
  recent.set('used', 0)
  for (let key = 1; key <= 1_000; key += 1) {
    recent.set(`${key}`, key)
    assert.equal(recent.get('used'), 0)
  }
  const kept = Array.from({ length: 1_000 }, (_, index) => recent.get(`${index + 1}`)).filter(
    (one) => one !== undefined,
  )
  assert.ok(kept.length >= 9 && kept.length <= 20, `${kept.length} are kept`)
  assert.ok(kept.includes(1_000))
})

test('what is deleted is gone, and what is set again has its new value', () => {
  const recent = createRecent<string>(2)
  for (const key of ['a', 'b', 'c']) recent.set(key, 'old')
  recent.delete('a')
  recent.set('b', 'new')
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => recent.get(key)),
    [undefined, 'new', 'old'],
  )
})

test('leave is taken of each value that was not used, once, and of none that is kept', () => {
  const forgotten: number[] = []
  const recent = createRecent<number>(10, (value) => forgotten.push(value))
  recent.set('used', 0)
  for (let key = 1; key <= 1_000; key += 1) {
    recent.set(`${key}`, key)
    recent.get('used')
  }
  const kept = Array.from({ length: 1_000 }, (_, index) => recent.get(`${index + 1}`) ?? [])
    .flat()
    .filter((one) => !forgotten.includes(one))
  assert.equal(new Set(forgotten).size, forgotten.length)
  assert.ok(!forgotten.includes(0))
  assert.equal(kept.length + forgotten.length, 1_000)
})
