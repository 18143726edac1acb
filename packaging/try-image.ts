/**
 * `node packaging/try-image.ts`: carries out the Dockerfile without Docker, as root on Debian, and tries the result. The base image is
 * made by debootstrap, with the Node of node_modules, which has the version of the official image, and the npm of this machine. The
 * service then runs as in a container: a process tree of its own, a root file system that cannot be written, a volume, and a user
 * without rights. It shares the network of the machine. What this cannot show is what the official image adds to Debian and Node.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tryRunning } from './try-image-run.ts'
import { type Built, isIgnored, readStages, readValues, type Stage, type Step } from './try-image-steps.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })

/** Debian with Node and npm, as the official image has them. */
function makeBase(folder: string): Built {
  console.log('the base image: debootstrap, Node and npm…')
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', folder)
  const node = join(root, `node_modules/node-linux-${process.arch}/bin/node`)
  cpSync(node, join(folder, 'usr/local/bin/node'))
  const cli = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  cpSync(join(dirname(cli), '..'), join(folder, 'usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'usr/local/bin/npm'))
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
  return { folder, workdir: '/', env, user: '0:0', last: {} }
}

function buildStage({ base, steps }: Stage, folder: string, made: ReadonlyMap<string, Built>, args: Args): Built {
  const from = made.get(base) ?? made.get('')
  if (from === undefined) throw new Error(`there is no \`${base}\``)
  run('cp', '--archive', '--reflink=auto', from.folder, folder)
  const built: Built = { ...from, folder, env: { ...from.env }, last: { ...from.last } }
  const given: Args = {}
  for (const step of steps) carryOut(step, built, made, given, args)
  return built
}

type Args = Record<string, string>

function carryOut(step: Step, built: Built, made: ReadonlyMap<string, Built>, given: Args, args: Args): void {
  const { name, rest } = step
  const at = (path: string) => join(built.folder, resolve(built.workdir, path))
  if (name === 'WORKDIR') {
    built.workdir = rest
    mkdirSync(at('.'), { recursive: true })
  } else if (name === 'ENV') Object.assign(built.env, readValues(rest))
  else if (name === 'ARG') {
    for (const [key, value] of Object.entries(readValues(rest))) given[key] = args[key] ?? value
  } else if (name === 'USER') built.user = rest
  else if (name === 'RUN') runInside(built, rest, given)
  else if (name === 'COPY') copy(step, at, made)
  else built.last[name] = step
}

function copy({ flags, rest }: Step, at: (path: string) => string, made: ReadonlyMap<string, Built>): void {
  const words = rest.split(' ')
  const to = words.pop() ?? ''
  for (const word of words) {
    if (flags.from !== undefined) {
      const source = join(made.get(flags.from)?.folder ?? '', word)
      mkdirSync(at(to), { recursive: true })
      run('cp', '--archive', '--no-target-directory', source, at(to))
    } else if (word === '.') for (const file of context) copyFile(file, join(at(to), file))
    else if (context.includes(word)) copyFile(word, /\/$/.test(to) ? join(at(to), basename(word)) : at(to))
    else throw new Error(`\`${word}\` is not in the context of the image`)
  }
}

function copyFile(file: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(join(root, file), to)
}

/** RUN, as root and with the network. A proxy's certificates of this machine are lent to it, and are in no layer. */
function runInside(built: Built, command: string, given: Args): void {
  console.log(`  RUN ${command.length > 110 ? `${command.slice(0, 110)}…` : command}`)
  const lent = process.env.NODE_EXTRA_CA_CERTS
  const script = `
    mount --rbind /dev ${built.folder}/dev && mount -t proc proc ${built.folder}/proc
    mount -t tmpfs tmpfs ${built.folder}/tmp && cp -L /etc/resolv.conf ${built.folder}/tmp/resolv.conf
    touch ${built.folder}/etc/resolv.conf && mount --bind ${built.folder}/tmp/resolv.conf ${built.folder}/etc/resolv.conf
    ${lent === undefined ? '' : `cp ${lent} ${built.folder}/tmp/lent.pem`}
    exec chroot ${built.folder} /bin/sh -c 'cd "$0" && eval "$1"' ${built.workdir} "$1"`
  const certificates = lent === undefined ? {} : { NODE_EXTRA_CA_CERTS: '/tmp/lent.pem' }
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', '/bin/sh', '-ec', script, 'sh', command], {
    env: { HOME: '/root', ...built.env, ...given, ...certificates },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`a step of the image failed: ${command}`)
}

function readContext(): string[] {
  const ignore = readFileSync(join(root, '.dockerignore'), 'utf8')
  // Docker takes what is there; here it is what git knows, and the file that a release adds.
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  return [...files, 'COMMIT'].filter((file) => file !== '' && existsSync(join(root, file)) && !isIgnored(ignore, file))
}

const context = readContext()
const folder = mkdtempSync(join(tmpdir(), 'sallyport-image-'))
try {
  if (process.getuid?.() !== 0) throw new Error('only root may make file systems: run it as root')
  const made = new Map([['', makeBase(join(folder, 'debian'))]])
  const stages = readStages(readFileSync(join(root, 'Dockerfile'), 'utf8'))
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  for (const [index, stage] of stages.entries()) {
    const name = stage.name ?? 'the image'
    console.log(`${name}, from ${stage.base}`)
    made.set(name, buildStage(stage, join(folder, `${index}`), made, { COMMIT: commit }))
  }
  const image = made.get('the image')
  if (image === undefined)
    throw new Error('the last stage of the Dockerfile has a name; it is the image, and needs none')
  const named = readFileSync(join(image.folder, 'opt/sallyport/COMMIT'), 'utf8')
  if (named !== `${commit}\n`) throw new Error(`the image names the commit \`${named}\``)
  await tryRunning(image, join(folder, 'volume'))
} finally {
  // No mount outlives its namespace, so nothing of this machine is below the folder.
  rmSync(folder, { recursive: true, force: true })
}
