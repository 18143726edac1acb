import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/wait.ts'
import { endRemains, findRemains } from './remains.ts'

/** Only Linux lists the processes that a run has left. */
const skip = process.platform !== 'linux' && 'not Linux'
const root = fileURLToPath(new URL('../../../', import.meta.url))
const isThere = (pid: number) => existsSync(`/proc/${pid}`)

/** A detached process that keeps running. */
function stay(env: NodeJS.ProcessEnv, ...more: string[]): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)', ...more], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
    detached: true,
  })
  child.unref()
  assert.ok(child.pid)
  return child as ChildProcess & { pid: number }
}

test('processes of a run are found by its folder, in the environment or on the command line, and ended', {
  skip,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'remains-'))
  const other = mkdtempSync(join(tmpdir(), 'remains-'))
  const [one, two, stranger] = [stay({ TMPDIR: folder }), stay({}, folder), stay({ TMPDIR: other })]
  await until('both are found', async () => findRemains(folder).length === 2)
  assert.deepEqual(
    findRemains(folder)
      .map(({ pid }) => pid)
      .sort(),
    [one.pid, two.pid].sort(),
  )
  await endRemains(folder)
  assert.deepEqual([findRemains(folder), existsSync(folder), isThere(stranger.pid)], [[], false, true])
  await endRemains(other)
})

test('the watchdog ends the remaining processes of a run once that has ended', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'remains-'))
  const left = stay({ TMPDIR: folder })
  await until('it is found', async () => findRemains(folder).length === 1)
  const watchdog = spawn(process.execPath, [join(root, 'server/test/runner/watchdog.ts')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  watchdog.stdin?.end(folder)
  await until('all processes and the folder are gone', async () => !isThere(left.pid) && !existsSync(folder))
})

test('a run that is killed leaves no process, and no folder', { skip }, async () => {
  const mark = randomUUID()
  const run = spawn(process.execPath, [join(root, 'server/test/run.ts'), 'server/src/jobs/'], {
    env: { ...process.env, SALLYPORT_TEST_MARK: mark },
    stdio: 'ignore',
    detached: true,
  })
  const worker = await until('tests are running', async () =>
    findRemains(mark).find(({ command }) => command.includes('worker.ts')),
  )
  const [, folder = ''] = readFileSync(`/proc/${worker.pid}/environ`, 'latin1').match(/(?:^|\0)TMPDIR=([^\0]+)/) ?? []
  try {
    // PostgreSQL does not keep its environment: it is found by its working folder.
    assert.ok(findRemains(folder).some(({ command }) => command.includes('postgres')))
    process.kill(run.pid ?? 0, 'SIGKILL')
    const isLeft = () => [mark, folder].some((word) => findRemains(word).length > 0) || existsSync(folder)
    await until('nothing is left', async () => !isLeft())
  } finally {
    await endRemains(mark)
    if (folder !== '') await endRemains(folder)
  }
})
