import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The receiver from a guide, run in its own folder as a reader who copies it would run it. */
export async function startGuideReceiver(guide: string, SIGNING_SECRET: string) {
  const text = readFileSync(new URL(`../../../docs/guides/${guide}`, import.meta.url), 'utf8')
  const [, source] = /```js\n(\/\/ SIGNING_SECRET=.*?)```/s.exec(text) ?? []
  assert.ok(source, 'the guide has a receiver')
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-receiver-'))
  await writeFile(join(folder, 'receiver.mjs'), source)
  let child: ChildProcess | undefined
  let port = '0'

  const program = {
    url: '',
    /** The folder of its files. */
    folder,
    /** Runs it; on a restart, on the same port. */
    async start() {
      child = spawn(process.execPath, ['receiver.mjs'], {
        cwd: folder,
        env: { SIGNING_SECRET, PORT: port },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      assert.ok(child.stdout)
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
      port = /\d+$/.exec(line)?.[0] ?? ''
      program.url = `http://127.0.0.1:${port}/`
    },
    /** Ends it abruptly, as a power cut would. */
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async close() {
      await program.kill()
      await rm(folder, { recursive: true })
    },
  }
  await program.start()
  return program
}
