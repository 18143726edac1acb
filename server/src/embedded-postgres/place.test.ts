import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { allows, closedFolder } from './place.ts'

const user = { uid: 65534, gid: 65534 }

const modes: [string, { uid: number; gid: number; mode: number }, number, boolean][] = [
  ['lets others enter a folder that is open to all', { uid: 0, gid: 0, mode: 0o755 }, 1, true],
  ['lets others enter a folder that they cannot list', { uid: 0, gid: 0, mode: 0o711 }, 1, true],
  ['keeps others out of a private folder', { uid: 0, gid: 0, mode: 0o700 }, 1, false],
  ['lets the owner into a private folder', { uid: 65534, gid: 0, mode: 0o700 }, 1, true],
  ['lets the group into a folder open to it', { uid: 0, gid: 65534, mode: 0o710 }, 1, true],
  ['uses only the group rights for a member, as the system does', { uid: 0, gid: 65534, mode: 0o701 }, 1, false],
  ['uses only the owner rights for the owner, as the system does', { uid: 65534, gid: 65534, mode: 0o077 }, 1, false],
  ['requires permission to read and to run a program', { uid: 0, gid: 0, mode: 0o754 }, 5, false],
  ['lets others run a program that they can read', { uid: 0, gid: 0, mode: 0o755 }, 5, true],
  ['keeps others from reading a file that was made under a narrow umask', { uid: 0, gid: 0, mode: 0o600 }, 4, false],
]
for (const [name, file, bits, expected] of modes) {
  test(name, () => assert.equal(allows(file, user, bits), expected))
}

test('finds the uppermost folder of a path that is closed to a user', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-place-')))
  t.after(() => rmSync(root, { recursive: true }))
  const stranger = { uid: (process.getuid?.() ?? 0) + 1, gid: (process.getgid?.() ?? 0) + 1 }
  mkdirSync(join(root, 'a/b/c'), { recursive: true })
  chmodSync(root, 0o755)
  chmodSync(join(root, 'a'), 0o755)
  chmodSync(join(root, 'a/b'), 0o755)
  chmodSync(join(root, 'a/b/c'), 0o755)
  assert.equal(closedFolder(join(root, 'a/b/c'), stranger), undefined)
  chmodSync(join(root, 'a/b/c'), 0o700)
  assert.equal(closedFolder(join(root, 'a/b/c'), stranger), join(root, 'a/b/c'))
  chmodSync(join(root, 'a'), 0o750)
  assert.equal(closedFolder(join(root, 'a/b/c'), stranger), join(root, 'a'))
})
