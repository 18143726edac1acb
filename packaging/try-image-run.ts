import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Built } from './try-image-steps.ts'

const port = 18_080
const address = `http://127.0.0.1:${port}`

/** Starts the service of an image twice, the second time after a kill, asks it what people and Docker ask it, and stops it. */
export async function tryRunning(image: Built, volume: string): Promise<void> {
  sayWhatIsInside(image)
  // As Docker fills a new volume: with the folder of the image, and its owner.
  execFileSync('cp', ['--archive', join(image.folder, 'var/lib/sallyport'), volume])
  const first = await start(image, volume)
  report('/readyz', await statusOf('/readyz'), 200)
  report('/console/', await statusOf('/console/'), 200)
  const { rest: health = '' } = image.last.HEALTHCHECK ?? {}
  report('the health check', first.inside(JSON.parse(health.slice(health.indexOf('[')))), 0)
  report('npm run admin -- tenant list', first.inside(['npm', 'run', 'admin', '--', 'tenant', 'list']), 0)
  report('a write of root beside the volume', first.asRoot(['touch', '/opt/sallyport/a']), 1)
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  const second = await start(image, volume)
  report('/readyz after a kill', await statusOf('/readyz'), 200)
  const began = performance.now()
  process.kill(second.pid, 'SIGTERM')
  report('the exit code after SIGTERM', await second.ended, 0)
  console.log(`  it stopped within ${((performance.now() - began) / 1_000).toFixed(1)} s`)
}

function sayWhatIsInside({ folder }: Built): void {
  const out = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' }).trim()
  const nodes = out('find', folder, '-xdev', '-type', 'f', '-name', 'node', '-size', '+30M').split('\n')
  report('how many Nodes it holds', nodes.length, 1)
  const left = ['vite', 'typescript', '@biomejs', 'react'].map((name) =>
    join(folder, 'opt/sallyport/node_modules', name),
  )
  report('libraries of the build that it holds', out('sh', '-c', `ls -d ${left.join(' ')} 2>/dev/null | wc -l`), '0')
  console.log(`  it is ${out('du', '--summarize', '--block-size=MB', folder).split('\t')[0]}, Debian and Node included`)
}

/** `inside`: the exit code of a command in the container, as its user. */
type Running = {
  pid: number
  ended: Promise<number | null>
  inside(command: readonly string[]): number | null
  asRoot(command: readonly string[]): number | null
}

/** Runs the CMD as the first process of a tree of its own. */
async function start({ folder, workdir, env, user, last }: Built, volume: string): Promise<Running> {
  const [uid = '', gid = ''] = user.split(':')
  const command = JSON.parse(last.CMD?.rest ?? '') as string[]
  const rights = ['--reuid', uid, '--regid', gid, '--clear-groups', '--bounding-set=-all', '--no-new-privs']
  const variables = Object.entries({ ...env, PORT: `${port}` }).map(([name, value]) => `${name}=${value}`)
  const asUser = ['setpriv', ...rights, 'env', '-i', '-C', workdir, ...variables]
  const script = `
    mount --bind ${folder} ${folder} && mount --rbind /dev ${folder}/dev && mount -t proc proc ${folder}/proc
    mount -t tmpfs tmpfs ${folder}/tmp && mount --bind ${volume} ${folder}/var/lib/sallyport
    mount -o remount,bind,ro ${folder}
    exec chroot ${folder} "$@"`
  const options = ['--mount', '--pid', '--fork', '--kill-child', '/bin/sh', '-ec', script, 'sh', ...asUser, ...command]
  const child = spawn('unshare', options, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  while ((await statusOf('/readyz')) !== 200) {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${log}`)
    await pause(100)
  }
  // The signal is for the first process of the tree, as Docker sends it, and not for `unshare`.
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
  const enter = (words: readonly string[]) => {
    const options = ['--target', `${pid}`, '--mount', '--pid', '--root', '--wd', ...words]
    return spawnSync('nsenter', options, { stdio: 'ignore' }).status
  }
  return { pid, ended, asRoot: enter, inside: (words) => enter([...asUser, ...words]) }
}

async function statusOf(path: string): Promise<number> {
  return (await fetch(address + path).catch(() => undefined))?.status ?? 0
}

function report(what: string, found: unknown, expected: unknown): void {
  console.log(`${found === expected ? '✓' : '✗'} ${what}: ${found}${found === expected ? '' : `, not ${expected}`}`)
  if (found !== expected) process.exitCode = 1
}
