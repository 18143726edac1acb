import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { processMark, takeOwnership } from './owner.ts'

const folder = mkdtempSync(join(tmpdir(), 'sallyport-owner-'))
test.after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'owner.json')

test('gives a folder to one owner, who gives it free again', async () => {
  const ownership = await takeOwnership(file)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).pid, process.pid)
  await assert.rejects(takeOwnership(file), new RegExp(`another Sallyport \\(pid ${process.pid}\\) is running`))
  ownership.release()
  assert.equal(existsSync(file), false)
})

test('waits a moment for an owner that is just ending', async () => {
  const first = await takeOwnership(file)
  const second = takeOwnership(file)
  first.release()
  const ownership = await second
  ownership.release()
})

const leftovers: [string, () => Promise<string>][] = [
  ['a process that is gone', async () => JSON.stringify({ pid: await deadPid(), mark: 'x' })],
  [
    'an earlier process of a number that is used again',
    async () => JSON.stringify({ pid: process.pid, mark: 'boot/1' }),
  ],
  ['a process that was killed while it wrote', async () => ''],
]
for (const [name, text] of leftovers) {
  test(`is not held up by what is left of ${name}`, { skip: process.platform === 'win32' }, async () => {
    writeFileSync(file, await text())
    const ownership = await takeOwnership(file)
    ownership.release()
    assert.equal(existsSync(file), false)
  })
}

test("does not remove another owner's note", async () => {
  const ownership = await takeOwnership(file)
  writeFileSync(file, 'another')
  ownership.release()
  assert.equal(readFileSync(file, 'utf8'), 'another')
  rmSync(file)
})

test('sees that a process has ended although nobody has fetched its end', {
  skip: process.platform !== 'linux',
}, async () => {
  // The shell starts a child that ends and never waits for it: what remains still has a number and answers signals.
  const shell = spawn('sh', ['-c', 'sh -c "echo \\$\\$" & exec sleep 30'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  while (processMark(pid) !== undefined) await new Promise(setImmediate)
  assert.equal(process.kill(pid, 0), true)
  shell.kill()
  await once(shell, 'exit')
})

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid ?? 0
}
