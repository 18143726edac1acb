import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { listMigrations } from './migrate.ts'
import { findTooNew, oldestCodeOf, requireNoneTooNew } from './newer-schema.ts'

const ours = ['0001_a', '0002_b', '0003_c'].map((name) => ({ name, checksum: name }))
const recorded = (...later: [string, string | null][]) => [
  ...ours.map((migration) => ({ ...migration, oldest_code: null })),
  ...later.map(([name, oldest_code]) => ({ name, checksum: name, oldest_code })),
]

suite('older code runs on a newer schema only where each unknown migration says so', () => {
  const cases: [string, [string, string | null][], string[]][] = [
    ['nothing unknown', [], []],
    ['one that states nothing', [['0004_d', null]], ['0004_d']],
    ['one that runs beside it', [['0004_d', '0003']], []],
    ['one that runs beside older code, too', [['0004_d', '0001']], []],
    ['one that needs a later one to be known', [['0005_e', '0004']], ['0005_e']],
    [
      'an expansion, and the contraction after it',
      [
        ['0004_d', '0003'],
        ['0005_e', '0004'],
      ],
      ['0005_e'],
    ],
    [
      'one that states nothing among others',
      [
        ['0004_d', null],
        ['0005_e', '0003'],
      ],
      ['0004_d'],
    ],
    ['one of another branch', [['0003_x', null]], ['0003_x']],
  ]
  for (const [name, later, tooNew] of cases) {
    test(name, () => assert.deepEqual(findTooNew(recorded(...later), ours), tooNew))
  }

  test('a new database', () => assert.deepEqual(findTooNew([], ours), []))
  test('one that an older version made', () => assert.deepEqual(findTooNew(recorded().slice(0, 1), ours), []))
})

test('the refusal names what is unknown, and says what to do', () => {
  requireNoneTooNew([])
  assert.throws(
    () => requireNoneTooNew(['0004_d', '0005_e']),
    /newer version .* 0004_d, 0005_e, which .* Start that version or a later one, or restore a backup/,
  )
})

test('a migration states the oldest code beside it in one form, and an earlier migration', async () => {
  assert.equal(oldestCodeOf('-- Runs beside code that knows 0067.\ncreate table a ();'), '0067')
  assert.equal(oldestCodeOf('create table a ();'), null)
  const migrations = await listMigrations()
  const numbers = migrations.map(({ name }) => name.slice(0, 4))
  for (const { name, text } of migrations) {
    const oldest = oldestCodeOf(text)
    assert.equal(oldest !== null, /runs beside/i.test(text), `${name} states it in another form`)
    if (oldest !== null) assert.ok(numbers.includes(oldest) && oldest < name.slice(0, 4), `${name}: ${oldest}`)
  }
})
