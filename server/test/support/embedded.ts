import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { type readRunningEmbedded, startEmbedded } from '../../src/embedded-postgres/start.ts'
import { until as untilFound } from './wait.ts'

export const isRoot = process.getuid?.() === 0
export const isLinux = process.platform === 'linux'
const script = new URL('../../src/embedded-postgres/start.ts', import.meta.url).href

const endings = new WeakMap<TestContext, (() => unknown)[]>()

/** Runs `end` when the test is over, in reverse order of registration. */
export function atEnd(t: TestContext, end: () => unknown): void {
  const known = endings.get(t)
  if (known !== undefined) {
    known.push(end)
    return
  }
  const ends = [end]
  endings.set(t, ends)
  t.after(async () => {
    for (const each of ends.reverse()) await each()
  })
}

/** A folder for one test; no process may run in it when the test is over. */
export function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-embedded-'))
  chmodSync(folder, 0o711)
  atEnd(t, async () => {
    try {
      await untilNothingRunsOn(folder)
    } finally {
      // Only after a failure: a test that passes has stopped its processes.
      for (const pid of processesOn(folder)) process.kill(pid, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  })
  return folder
}

/** The embedded PostgreSQL for one test; an unexpected crash fails the test. */
export async function start(t: TestContext, dataDir: string, more: Partial<Parameters<typeof startEmbedded>[0]> = {}) {
  const onCrash = (reason: string) => assert.fail(reason)
  const postgres = await startEmbedded({ dataDir, log: () => {}, onCrash, ...more })
  atEnd(t, () => postgres.stop())
  return postgres
}

/** The rows of one statement as text. */
export async function query(endpoint: Awaited<ReturnType<typeof readRunningEmbedded>>, text: string): Promise<string> {
  assert.ok(endpoint !== undefined)
  const { host, port, superuser: user, password } = endpoint
  const client = new pg.Client({ host, port, user, password, database: 'postgres', ssl: false })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<string[]>({ text, rowMode: 'array' })
    return rows.map((row) => row.join(' ')).join('\n')
  } finally {
    await client.end()
  }
}

export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  await untilFound(what, async () => condition())
}

/** The processes whose command line or working folder names `folder`. */
export function processesOn(folder: string): number[] {
  if (!isLinux) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return (
          readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(folder) ||
          readlinkSync(`/proc/${name}/cwd`).startsWith(folder)
        )
      } catch {
        return false
      }
    })
    .map(Number)
}

export async function untilNothingRunsOn(folder: string): Promise<void> {
  await until(() => processesOn(folder).length === 0, `processes of ${folder} to end`)
}

/** Runs Sallyport's part in its own process and its own process group, like a shell's job. `untilPrinted` waits for a line. */
export function startElsewhere(
  t: TestContext,
  dataDir: string,
): { child: ChildProcess; untilPrinted(word: string): Promise<string> } {
  const source = `
    import { startEmbedded } from ${JSON.stringify(script)}
    const postgres = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log() {}, onCrash() {} })
    setInterval(() => {}, 1000)
    process.on('SIGINT', () => console.log('interrupted .'))
    console.log('ready ' + postgres.pid)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  atEnd(t, () => kill(child))
  return {
    child,
    async untilPrinted(word) {
      await until(() => new RegExp(`${word} (.+)\n`).test(text), word)
      return new RegExp(`${word} (.+)\n`).exec(text)?.[1] ?? ''
    },
  }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
