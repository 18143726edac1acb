import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { kill } from './embedded.ts'

const contenders = 4
const source = `
  import { tryLock } from ${JSON.stringify(new URL('../../src/embedded-postgres/folder-lock.ts', import.meta.url).href)}
  process.on('message', (file) => process.send(tryLock(file) !== undefined))
  process.send('ready')`

/**
 * Four processes repeatedly try to lock one folder at the same moment. After each round the owner is killed, and the next
 * round starts with what it left. Each round has one owner.
 */
export async function contend(t: TestContext, rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-lock-'))
  const alive = new Set<ChildProcess>()
  t.after(async () => {
    await Promise.all([...alive].map(kill))
    rmSync(folder, { recursive: true })
  })
  const start = async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    alive.add(child)
    child.once('exit', () => alive.delete(child))
    await once(child, 'message')
    return child
  }
  let children = await Promise.all(Array.from({ length: contenders }, start))
  for (let round = 1; round <= rounds; round++) {
    const answers = children.map(async (child) => {
      child.send(join(folder, 'owner.lock'))
      const [owns] = (await once(child, 'message')) as [boolean]
      return owns
    })
    const owns = await Promise.all(answers)
    assert.equal(owns.filter(Boolean).length, 1, `owners in round ${round}`)
    const owner = children[owns.indexOf(true)] as ChildProcess
    await kill(owner)
    children = [...children.filter((child) => child !== owner), await start()]
  }
}
