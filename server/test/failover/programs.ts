import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { processesOn } from '../support/embedded.ts'

const install = 'apt-get install -y --no-install-recommends patroni etcd-server haproxy postgresql'

/** The programs of a cluster, by their paths. */
export type Programs = { patroni: string; etcd: string; haproxy: string; postgres: string }

/**
 * Finds Debian's programs; of several versions of PostgreSQL the latest.
 * @throws Error with the line that installs them, if one is missing.
 */
export function findPrograms(): Programs {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const latest = versions.toSorted((one, two) => Number(two) - Number(one))[0]
  const found: Programs = {
    patroni: '/usr/bin/patroni',
    etcd: '/usr/bin/etcd',
    haproxy: '/usr/sbin/haproxy',
    postgres: `/usr/lib/postgresql/${latest ?? 'VERSION'}/bin`,
  }
  const missing = [...Object.values(found), `${found.postgres}/pg_rewind`].filter((path) => !existsSync(path))
  if (missing.length > 0) throw new Error(`${missing.join(', ')}: not found; on Debian type: ${install}`)
  return found
}

/** PostgreSQL refuses to run as root, so everything of a cluster runs as `nobody` then. */
const runAs = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** Lets the cluster's programs write there. */
export function letThemWrite(folder: string): void {
  if (runAs.uid !== undefined) chownSync(folder, runAs.uid, runAs.gid)
}

/** Starts a program of the cluster in its folder, with its output in a file there. */
export function startIn(folder: string, path: string, args: readonly string[], log: string): ChildProcess {
  const out = openSync(log, 'a')
  // No variable of the caller, such as PGPORT, may reach PostgreSQL's programs.
  const env = { PATH: '/usr/sbin:/usr/bin:/bin', HOME: folder, LC_ALL: 'C.UTF-8' }
  const child = spawn(path, args, { cwd: folder, env, stdio: ['ignore', out, out], ...runAs })
  child.on('error', (error) => console.error(`${path} did not start: ${error.message}`))
  return child
}

/** Sends the signal to everything that runs in the folder, until no process is left that has not received it. */
export async function signalAll(folder: string, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const done = (pid: number) => signal !== 'SIGKILL' && isStopped(pid) === (signal === 'SIGSTOP')
  for (;;) {
    const left = processesOn(folder).filter((pid) => isAlive(pid) && !done(pid))
    if (left.length === 0) return
    for (const pid of left) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended meanwhile.
      }
    }
    await pause(5)
  }
}

function isAlive(pid: number): boolean {
  return !['Z', 'X', ''].includes(stateOf(pid))
}

function isStopped(pid: number): boolean {
  return stateOf(pid) === 'T'
}

/** The letter of the process's state, behind its name, which may contain anything. */
function stateOf(pid: number): string {
  try {
    return /\) ([A-Za-z])/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}
