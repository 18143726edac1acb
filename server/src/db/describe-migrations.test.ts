import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeMigrations, nameMigrations } from './describe-migrations.ts'

test('a start says in one short line which migrations it ran', () => {
  const cases: [string[], string | undefined][] = [
    [[], undefined],
    [['0001_a', '0002_b'], 'made the tables (2 migrations)'],
    [['0002_b'], 'migrated the database to this version: 0002_b'],
    [['0002', '0003', '0004', '0005', '0006'], 'migrated the database to this version: 0002, 0003, 0004, 0005, 0006'],
    [
      ['0002', '0003', '0004', '0005', '0006', '0007_g'],
      'migrated the database to this version: 6 migrations, the last one 0007_g',
    ],
  ]
  for (const [ran, line] of cases) assert.equal(describeMigrations(ran, '0001_a'), line)
})

test('few migrations are named, many are counted', () => {
  assert.equal(nameMigrations(['0001_a', '0002_b']), '0001_a, 0002_b')
  assert.equal(nameMigrations(['1', '2', '3', '4', '5', '6']), '6 migrations, the last one 6')
})
