import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { contend } from '../../test/support/lock-contenders.ts'
import { lockFolder, tryLock } from './folder-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'sallyport-lock-'))
test.after(() => rmSync(folder, { recursive: true }))
const place = { lockFile: join(folder, 'owner.lock'), ownerFile: join(folder, 'owner.json') }

test('locks a folder for one owner, who can release it', async () => {
  const lock = await lockFolder(place)
  assert.equal(JSON.parse(readFileSync(place.ownerFile, 'utf8')).pid, process.pid)
  await assert.rejects(lockFolder(place), new RegExp(`another Sallyport \\(pid ${process.pid}\\) is running`))
  lock.release()
  assert.equal(existsSync(place.ownerFile), false)
  const next = await lockFolder(place)
  next.release()
})

test('waits a moment for an owner that is just ending', async () => {
  const first = await lockFolder(place)
  const second = lockFolder(place)
  first.release()
  const lock = await second
  lock.release()
})

for (const [name, text] of [
  ['an earlier version', '{"pid":1,"mark":"boot/1"}'],
  ['an owner that was killed while it wrote', ''],
] as const) {
  test(`is not held up by the owner file of ${name}, and does not need it`, async () => {
    writeFileSync(place.ownerFile, text)
    const lock = await lockFolder(place)
    rmSync(place.ownerFile)
    await assert.rejects(lockFolder(place), /^Error: another Sallyport is running on this data folder/)
    lock.release()
  })
}

test('the lock is one file, which only its owner can read', async () => {
  const lock = tryLock(place.lockFile)
  assert.equal(statSync(place.lockFile).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['owner.lock'])
  lock?.release()
})

test('a link in the place of the lock is refused', () => {
  const link = join(folder, 'link.lock')
  symlinkSync(join(folder, 'elsewhere'), link)
  assert.throws(() => tryLock(link), /link.lock` is not a file: remove it/)
  assert.equal(existsSync(join(folder, 'elsewhere')), false)
})

test('one of four concurrent processes is the owner, and killing it frees the folder: 20 rounds (R17)', (t) =>
  contend(t, 20))
