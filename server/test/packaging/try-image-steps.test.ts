import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { isIgnored, readStages, readValues } from '../../../packaging/try-image-steps.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

suite('the steps of a Dockerfile', () => {
  test('are read with their flags, over several lines, without comments', () => {
    const [stage] = readStages('# a\nFROM x:1 AS one\nRUN a \\\n  && b\n# c\nCOPY --from=y a b ./\n')
    assert.deepEqual(stage, {
      base: 'x:1',
      name: 'one',
      steps: [
        { name: 'RUN', flags: {}, rest: 'a && b' },
        { name: 'COPY', flags: { from: 'y' }, rest: 'a b ./' },
      ],
    })
  })
  test('are refused where one is not known', () => assert.throws(() => readStages('FROM x\nADD a b'), /`ADD`/))
  test('are those of ours', () => assert.equal(readStages(read('Dockerfile')).length, 4))

  const values: [string, Record<string, string>][] = [
    ['A=b', { A: 'b' }],
    ['A=b  C="d e" F=""', { A: 'b', C: 'd e', F: '' }],
    ['A', { A: '' }],
    ['A=http://127.0.0.1:8080', { A: 'http://127.0.0.1:8080' }],
  ]
  for (const [rest, expected] of values) {
    test(`ENV ${rest}`, () => assert.deepEqual(readValues(rest), expected))
  }
})

suite('the context of the image', () => {
  const ignore = read('.dockerignore')
  const sent = [
    ...[
      'package.json',
      '.npmrc',
      'tsconfig.json',
      'COMMIT',
      'LICENSE',
      'server/src/main.ts',
      'server/migrations/a.sql',
    ],
    ...['client/src/api.ts', 'console/src/main.tsx', 'packaging/compose/make-password.ts', 'server/require-node.cjs'],
  ]
  for (const path of sent) test(`has ${path}`, () => assert.equal(isIgnored(ignore, path), false))

  const leftOut = [
    ...['.env', '.git/config', 'data/secret.key', 'docs/architecture.md', 'node_modules/pg/package.json'],
    ...['server/test/run.ts', 'server/src/a.test.ts', 'console/node_modules/a.js', 'console/dist/a/index.html'],
    ...['packaging/release.ts', 'packaging/sbom/package.json', 'server/node_modules/a.js', 'release/SHA256SUMS'],
  ]
  for (const path of leftOut) test(`has not ${path}`, () => assert.equal(isIgnored(ignore, path), true))
})
