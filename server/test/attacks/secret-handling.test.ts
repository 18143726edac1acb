import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { linesWith, readSources } from '../support/source-files.ts'

/** Timing properties that are invisible from outside: checked in the source itself. */
const sources = readSources(process.cwd(), ['server/src']).filter(({ path }) => !path.endsWith('.test.ts'))

const secret = String.raw`\w*(?:secret|hash|digest|password|hmac|tag|verifier|nonce|signature)s?\b`
const equals = String.raw`\s*[!=]==?\s*`
/**
 * Comparisons such as `hash === other`, `other === row.hash`, `hash.equals(other)`, and the same with `includes`; except with
 * undefined, null, true and false.
 */
const comparisons = new RegExp(
  `${secret}${equals}(?!undefined|null|true|false)[\\w(]|${equals}[\\w.]*${secret}(?!\\.)|${secret}\\.(?:equals|includes|compare)\\(`,
  'i',
)

/** The files that write files, and what they write. */
const filesWritten: Readonly<Record<string, string>> = {
  'server/src/backup/backup-file.ts': 'the backup, for its owner alone; its secrets stay sealed',
  'server/src/console/builds.ts': 'folders for builds of the console, which everybody gets',
  'server/src/embedded-postgres/': 'notes of the embedded database, and its password, for its owner alone',
  'server/src/secrets/root-key': 'the root key, for its owner alone',
  'server/src/tenants/bootstrap-file.ts': 'what the first start left, for its owner alone',
}

suite('a secret', () => {
  test('is compared only in constant time (S8)', () => {
    const found = sources.flatMap((source) =>
      linesWith(source, comparisons).map((line) => `${source.path}: ${source.text.split('\n')[line - 1]?.trim()}`),
    )
    assert.deepEqual(found, [])
  })

  test('in an unsafe comparison would be found', () => {
    for (const text of [
      'if (secret_hash === given) x',
      'if (a !== row.secret) x',
      'tag.equals(b)',
      'x === passwordHash',
    ]) {
      assert.equal(linesWith({ path: 'x.ts', text }, comparisons).length, 1, text)
    }
  })

  test('is written only to files that only their owner can read, and to no temporary file (S8)', () => {
    const pathsWith = (pattern: RegExp) =>
      sources.filter((source) => linesWith(source, pattern).length > 0).map(({ path }) => path)
    const writers = pathsWith(
      /\b(?:writeFile|writeFileSync|createWriteStream|appendFile|appendFileSync|mkdtemp|mkdtempSync|tmpdir)\(/,
    )
    assert.deepEqual(
      writers.filter((path) => !Object.keys(filesWritten).some((place) => path.startsWith(place))),
      [],
    )
  })
})
