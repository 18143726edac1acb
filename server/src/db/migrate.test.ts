import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listMigrations } from './migrate.ts'

test('migrations are numbered from 1 without gaps', async () => {
  const numbers = (await listMigrations()).map(({ name }) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1]))
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  )
})
