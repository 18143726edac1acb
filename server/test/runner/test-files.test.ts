import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWanted, type Selection } from './test-files.ts'

const usual: Selection = { words: [], long: false, on15: false, all: false }
const [plain, store, long, of15] = [
  'server/src/users/create-user.test.ts',
  'server/src/users/user-store.test.ts',
  'server/test/bench.long.test.ts',
  'server/src/provisioners/postgresql/target-15.test.ts',
]
const drawing = "import { fc } from '../../test/support/chance.ts'\n"
const racing = "import { rounds } from '../support/race.ts'\n"
const inTurns = "import { inTurns } from './support/in-turns.ts'\n"

const trials: [string, Partial<Selection>, string, string, boolean][] = [
  ['the usual run takes a test', {}, plain, '', true],
  ['no long test', {}, long, '', false],
  ['no test about PostgreSQL 15', {}, of15, '', false],
  ['a word takes the files whose path contains it', { words: ['users/create'] }, plain, '', true],
  ['a word takes no other file', { words: ['users/create'] }, store, '', false],
  ['a word takes a long test', { words: ['bench'] }, long, '', true],
  ['the long run takes the long tests', { long: true }, long, '', true],
  ['the long run takes a random test', { long: true }, plain, drawing, true],
  ['the long run takes a race', { long: true }, plain, racing, true],
  ['the long run takes a test that tries some items in turns', { long: true }, plain, inTurns, true],
  ['the long run takes no other test', { long: true }, plain, '', false],
  ['the run on PostgreSQL 15 takes a store', { on15: true }, store, '', true],
  ['the run on PostgreSQL 15 takes a test about it', { on15: true }, of15, '', true],
  ['the run on PostgreSQL 15 takes a database test', { on15: true }, 'server/src/db/transaction.test.ts', '', true],
  [
    'the run on PostgreSQL 15 skips the embedded PostgreSQL',
    { on15: true },
    'server/src/embedded-postgres/cluster.test.ts',
    '',
    false,
  ],
  ['the run on PostgreSQL 15 takes a journey', { on15: true }, 'server/test/journeys/a-working-day.test.ts', '', true],
  ['the run on PostgreSQL 15 skips tests that cannot differ', { on15: true }, plain, '', false],
  ['with all, it takes them too', { on15: true, all: true }, plain, '', true],
  ['with all, it skips long tests', { on15: true, all: true }, long, '', false],
]
for (const [sentence, selection, file, text, expected] of trials) {
  test(`${sentence}: ${file}`, () => {
    assert.equal(
      isWanted(file, { ...usual, ...selection }, () => text),
      expected,
    )
  })
}
