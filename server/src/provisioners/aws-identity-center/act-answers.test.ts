import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openActAnswers } from './act-answers.ts'

test('answers are kept for a minute, by assignment, until they are forgotten', () => {
  let now = 0
  const answers = openActAnswers(() => now)
  answers.note('a', 'tagged')
  now = 60_000
  assert.ok(answers.has('a', 'tagged'))
  assert.ok(!answers.has('b', 'tagged'))
  now = 60_001
  assert.ok(!answers.has('a', 'tagged'))
  answers.note('a', 'tagged')
  answers.note('a', 'put')
  answers.forgetOne('a', 'put')
  assert.deepEqual([answers.has('a', 'tagged'), answers.has('a', 'put')], [true, false])
  answers.forget('a')
  assert.ok(!answers.has('a', 'tagged'))
})

test('work keeps its place while it goes on, for ten minutes at most', () => {
  let now = 0
  const answers = openActAnswers(() => now)
  for (; now <= 600_000; now += 100_000) assert.equal(answers.since('a'), 0)
  assert.equal(answers.since('a'), 700_000)
  answers.forget('a')
  now = 700_001
  assert.equal(answers.since('a'), 700_001)
  now += 120_001
  assert.equal(answers.since('a'), 820_002, 'it was given up')
})
