import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, type Durations, planBatches } from './batches.ts'

const plan = (durations: Durations, alone: (file: string) => boolean = () => false) =>
  planBatches(Object.keys(durations), durations, alone).map(({ files, seconds }: Batch) => [seconds, ...files])

const trials: [string, unknown[], unknown[]][] = [
  [
    'files of one folder share a process',
    plan({ 'a/b/c/one': 2, 'a/b/c/d/two': 3 }),
    [[5, 'a/b/c/d/two', 'a/b/c/one']],
  ],
  [
    'small folders share one, each together',
    plan({ 'a/b/x/1': 1, 'a/b/y/1': 2, 'a/b/x/2': 2 }),
    [[5, 'a/b/x/2', 'a/b/x/1', 'a/b/y/1']],
  ],
  [
    'a process is filled to 45 s, and the longest comes first',
    plan({ 'a/b/x/1': 25, 'a/b/x/2': 40, 'a/b/x/3': 5, 'a/b/x/4': 1 }),
    [
      [45, 'a/b/x/2', 'a/b/x/3'],
      [26, 'a/b/x/1', 'a/b/x/4'],
    ],
  ],
  [
    'a longer file has its own process',
    plan({ 'a/b/x/1': 60, 'a/b/x/2': 1 }),
    [
      [60, 'a/b/x/1'],
      [1, 'a/b/x/2'],
    ],
  ],
  [
    'a file that must be alone has its own process',
    plan({ 'a/b/x/1': 2, 'a/b/x/2': 3, 'a/b/x/3': 1 }, (file) => file.endsWith('2')),
    [
      [3, 'a/b/x/1', 'a/b/x/3'],
      [3, 'a/b/x/2'],
    ],
  ],
]
for (const [sentence, planned, expected] of trials) {
  test(sentence, () => assert.deepEqual(planned, expected))
}

test('a file without a record is assumed to take a second', () => {
  assert.deepEqual(
    planBatches(['a/b/c/new'], {}, () => false),
    [{ files: ['a/b/c/new'], seconds: 1 }],
  )
})

test('a process of a long run takes a twentieth of it', () => {
  const durations = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`a/b/x/${index}`, 10]))
  const planned = planBatches(Object.keys(durations), durations, () => false)
  assert.deepEqual(
    planned.map(({ seconds }) => seconds),
    Array<number>(20).fill(100),
  )
})
