import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/wait.ts'

/** A call of the API that a block made. */
export type Call = { command: string; status: number; body: string }
/** What came of a block: its commands that failed, what it printed, and its calls in order. */
export type Typed = { failed: string; output: string; calls: Call[] }

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A block may wait for a minute, as the end of all sessions does. */
const maxBlockMs = 180_000

/** Calls the real curl, and keeps the command, the headers and the body of each call in a folder of its own. */
const recordingCurl = (curl: string, calls: string) => `#!/usr/bin/env bash
call=${calls}/$(date +%s%N)-$$
mkdir "$call"
printf '%s\\n' "$*" >"$call/command"
${curl} "$@" --dump-header "$call/head" | tee "$call/body"
exit "\${PIPESTATUS[0]}"
`

/** A folder as a new user has it after \`npm ci\`, with this folder of data. */
async function checkout(data_dir: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-guide-'))
  const shared = readdirSync(root).filter((name) => !['.git', 'data'].includes(name))
  for (const name of shared) symlinkSync(join(root, name), join(folder, name))
  symlinkSync(data_dir, join(folder, 'data'))
  return folder
}

/** A bash in such a folder, into which blocks are typed one after another. */
export async function openShell(data_dir: string) {
  const folder = await checkout(data_dir)
  const kept = await mkdtemp(join(tmpdir(), 'sallyport-typed-'))
  const [calls, bin] = [join(kept, 'calls'), join(kept, 'bin')]
  for (const one of [calls, bin]) mkdirSync(one)
  writeFileSync(join(bin, 'curl'), recordingCurl('/usr/bin/curl', calls))
  chmodSync(join(bin, 'curl'), 0o755)
  const { HOME = '', PATH = '', TMPDIR = '/tmp', LANG = 'C.UTF-8', NODE_COMPILE_CACHE } = process.env
  // Each command is a process of its own, which would compile the same modules again.
  const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
  const bash = spawn('bash', ['--norc', '--noprofile'], {
    cwd: folder,
    env: { ...compiled, HOME, TMPDIR, LANG, NO_COLOR: '1', PATH: `${bin}:${PATH}` },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  after(() => end(bash))
  let blocks = 0

  /** Types a block, and waits for its end; an endless one is interrupted once it has printed something. */
  async function type(text: string, isEndless = false): Promise<Typed> {
    const seen = new Set(readdirSync(calls))
    const block = join(kept, `${blocks++}`)
    writeFileSync(`${block}.sh`, text)
    bash.stdin?.write(`trap 'echo "$BASH_COMMAND: exit code $?" >>${block}.failed' ERR\n`)
    const typed = `. ${block}.sh </dev/null >${block}.out 2>&1`
    // A job of its own is a group of processes, which a signal reaches as a whole.
    const endlessly = `set -m; (${typed}) & echo $! >${block}.pid; wait; set +m; echo >${block}.end`
    bash.stdin?.write(isEndless ? `${endlessly}\n` : `${typed}; echo >${block}.end\n`)
    if (isEndless) {
      await until('the endless block prints something', async () => read(`${block}.out`) !== '')
      process.kill(-Number(read(`${block}.pid`)), 'SIGTERM')
    }
    const hasEnded = async () => bash.exitCode !== null || read(`${block}.end`) !== ''
    await until(`the block ends:\n${text}`, hasEnded, maxBlockMs)
    const made = readdirSync(calls).filter((name) => !seen.has(name))
    return {
      failed: bash.exitCode === null ? read(`${block}.failed`) : 'bash has ended',
      output: read(`${block}.out`),
      calls: made.toSorted().map((name) => callIn(join(calls, name))),
    }
  }
  return { folder, type }
}

function callIn(folder: string): Call {
  const heads = Array.from(read(join(folder, 'head')).matchAll(/^HTTP\/\S+ (\d+)/gm), ([, status]) => Number(status))
  return {
    command: read(join(folder, 'command')).trim(),
    status: heads.at(-1) ?? 0,
    body: read(join(folder, 'body')),
  }
}

function read(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? '' : readFileSync(path, 'utf8')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.stdin?.end()
  await once(child, 'exit')
}
