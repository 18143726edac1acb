import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extendManifest } from './migration-manifest.ts'

const landed = { '0001_a': 'aa', '0002_b': 'bb' }
const migration = (name: string, checksum: string) => ({ name, checksum })
const a = migration('0001_a', 'aa')
const b = migration('0002_b', 'bb')

test('a landed migration stays as it is', () => assert.deepEqual(extendManifest(landed, [a, b]), landed))

test('a new migration is added', () =>
  assert.deepEqual(extendManifest(landed, [a, b, migration('0003_c', 'cc')]), { ...landed, '0003_c': 'cc' }))

const refused: [string, ReturnType<typeof migration>[]][] = [
  ['edited', [a, migration('0002_b', 'bx')]],
  ['renamed', [a, migration('0002_c', 'bb')]],
  ['removed', [a]],
]
for (const [what, migrations] of refused) {
  test(`a landed migration may not be ${what}`, () =>
    assert.throws(() => extendManifest(landed, migrations), /`0002_b`: a migration that has landed is never edited/))
}
