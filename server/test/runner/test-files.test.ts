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

const trials: [string, Partial<Selection>, string, string, boolean][] = [
  ['the usual run takes a test', {}, plain, '', true],
  ['no long one', {}, long, '', false],
  ['none that is about PostgreSQL 15', {}, of15, '', false],
  ['a word takes the files whose path holds it', { words: ['users/create'] }, plain, '', true],
  ['and no other', { words: ['users/create'] }, store, '', false],
  ['a word takes a long one', { words: ['bench'] }, long, '', true],
  ['the long run takes the long ones', { long: true }, long, '', true],
  ['what draws by chance', { long: true }, plain, drawing, true],
  ['what races', { long: true }, plain, racing, true],
  ['and nothing else', { long: true }, plain, '', false],
  ['the run on PostgreSQL 15 takes a store', { on15: true }, store, '', true],
  ['what is about it', { on15: true }, of15, '', true],
  ['the database', { on15: true }, 'server/src/db/transaction.test.ts', '', true],
  ['not the embedded one', { on15: true }, 'server/src/embedded-postgres/cluster.test.ts', '', false],
  ['a journey', { on15: true }, 'server/test/journeys/a-working-day.test.ts', '', true],
  ['not what could not differ', { on15: true }, plain, '', false],
  ['with all, that too', { on15: true, all: true }, plain, '', true],
  ['and nothing that is long', { on15: true, all: true }, long, '', false],
]
for (const [sentence, selection, file, text, expected] of trials) {
  test(`${sentence}: ${file}`, () => {
    assert.equal(
      isWanted(file, { ...usual, ...selection }, () => text),
      expected,
    )
  })
}
