import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { describeVersion, readVersion } from './version.ts'

const one = '1'.repeat(40)
const other = '2'.repeat(40)

/** The commit that is read in a folder with these files. */
function commitIn(files: Record<string, string>): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-version-'))
  try {
    for (const [name, text] of Object.entries({ 'package.json': '{"version": "1.2.3"}', ...files })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    const { version, commit } = readVersion(folder)
    assert.equal(version, '1.2.3')
    return commit
  } finally {
    rmSync(folder, { recursive: true })
  }
}

suite('the commit', () => {
  const rows: [what: string, files: Record<string, string>, commit: string | undefined][] = [
    ['is unknown in a copy without its history', {}, undefined],
    ['is that of the file of a release', { COMMIT: `${one}\n`, '.git/HEAD': `${other}\n` }, one],
    ['is not what else such a file holds', { COMMIT: 'unknown\n' }, undefined],
    ['is the one checked out by itself', { '.git/HEAD': `${one}\n` }, one],
    ['is that of the branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${one}\n` }, one],
    [
      'is that of a packed branch',
      {
        '.git/HEAD': 'ref: refs/heads/main\n',
        '.git/packed-refs': `# pack-refs with: peeled\n${other} refs/heads/not-main\n${one} refs/heads/main\n`,
      },
      one,
    ],
    [
      'is that of a further worktree',
      {
        '.git': 'gitdir: shared/worktrees/w\n',
        'shared/worktrees/w/HEAD': 'ref: refs/heads/w\n',
        'shared/worktrees/w/commondir': '../..\n',
        'shared/refs/heads/w': `${one}\n`,
      },
      one,
    ],
    ['is unknown on a branch without one', { '.git/HEAD': 'ref: refs/heads/main\n' }, undefined],
  ]
  for (const [what, files, commit] of rows) test(what, () => assert.equal(commitIn(files), commit))
})

test('a version is described with as much of its commit as people compare', () => {
  assert.equal(describeVersion({ version: '0.1.0', commit: `${'abc4'.repeat(10)}` }), '0.1.0 (abc4abc4abc4)')
  assert.equal(describeVersion({ version: '0.1.0', commit: undefined }), '0.1.0')
})
