/**
 * `npm run release`: makes the files of a release in `release/`. The same commit gives the same bytes, so nothing comes from this
 * checkout but what is committed, and no time but that of the commit. Decision 97 says what a release is made of.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { findReleaseFault } from './release-fault.ts'

/** What an installation does not need: tests, and what a release and a change are made with. */
const left = [
  ...['.ci', '.gitignore', 'bench', 'biome.json', 'knip.json', 'server/test'],
  ...['packaging/release*.ts', 'packaging/sbom', 'packaging/try-image*.ts', '**/*.test.ts'],
].map((pattern) => `:(exclude,glob)${pattern}`)

const root = fileURLToPath(new URL('../', import.meta.url))
const maxBuffer = 1_000_000_000
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, maxBuffer })
const gitLine = (...args: string[]) =>
  git(...args)
    .toString()
    .trimEnd()
const npm = (cwd: string, ...args: string[]) =>
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })

/** The files of the commit that are in the release, as a tar archive. `more`: arguments that add to them. */
function archive(prefix: string, ...more: string[]): Buffer {
  // Modes do not depend on the git configuration of this machine.
  const options = ['-c', 'tar.umask=0022', 'archive', '--format=tar', ...more, `--prefix=${prefix}`]
  return git(...options, 'HEAD', '--', '.', ...left)
}

/** Writes the release's files of the commit into an empty folder, and builds the console there. */
function prepare(folder: string): void {
  execFileSync('tar', ['-x'], { cwd: folder, input: archive('') })
  npm(folder, 'ci', '--omit=dev', '--workspace=@sallyport/console', '--no-audit', '--no-fund')
  npm(folder, 'run', 'console:build')
}

/** The archive with the console and the name of the commit. Git writes the time of the commit for each file. */
function pack(folder: string, name: string, commit: string): Buffer {
  writeFileSync(join(folder, 'COMMIT'), `${commit}\n`)
  const built = readdirSync(join(folder, 'console/dist'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const added = [join(folder, 'COMMIT'), ...built].flatMap((file) => {
    const below = dirname(file.slice(folder.length + 1)).replaceAll(sep, '/')
    return [`--prefix=${posix.join(name, below)}/`, `--add-file=${file}`]
  })
  return gzipSync(archive(`${name}/`, ...added), { level: 9 })
}

/** The list of all libraries, from the lock file: those of every system, and not only those that were installed here. */
function listLibraries(folder: string): string {
  const tool = join(folder, '.sbom')
  mkdirSync(tool)
  execFileSync('tar', ['-x'], { cwd: tool, input: git('archive', '--format=tar', 'HEAD:packaging/sbom') })
  npm(tool, 'ci', '--omit=optional', '--no-audit', '--no-fund')
  const program = join(tool, 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js')
  const options = ['--package-lock-only', '--omit=dev', '--output-reproducible', '--output-format=JSON']
  const text = execFileSync(process.execPath, [program, ...options, '--mc-type=application', '--no-validate'], {
    cwd: folder,
    maxBuffer,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const list = JSON.parse(text.toString()) as { metadata: { tools: { components: { name: string }[] } } }
  // The npm that happens to be here is no part of the release.
  const { tools } = list.metadata
  tools.components = tools.components.filter(({ name }) => name !== 'npm')
  return `${JSON.stringify(list, undefined, 2)}\n`
}

function makeRelease(version: string): void {
  const commit = gitLine('rev-parse', 'HEAD')
  const name = `sallyport-${version}`
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-release-'))
  try {
    console.log(`making ${name} from ${commit}: building the console, and listing the libraries…`)
    prepare(folder)
    const files = { [`${name}.sbom.json`]: listLibraries(folder), [`${name}.tar.gz`]: pack(folder, name, commit) }
    write(files)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function write(files: Readonly<Record<string, string | Buffer>>): void {
  const to = join(root, 'release')
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to)
  const sums = Object.entries(files).map(([name, content]) => {
    writeFileSync(join(to, name), content)
    console.log(`  release/${name}: ${(Buffer.byteLength(content) / 1_000_000).toFixed(2)} MB`)
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`
  })
  writeFileSync(join(to, 'SHA256SUMS'), sums.join(''))
  console.log(`  release/SHA256SUMS:\n${sums.join('')}`)
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const fault = findReleaseFault({
  version,
  changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
  // Files that git does not know are in no archive of it.
  changed: gitLine('status', '--porcelain', '--untracked-files=no'),
  kept: gitLine('ls-tree', '--name-only', 'HEAD', `server/test/releases/${version}/`)
    .split('\n')
    .map((path) => posix.basename(path)),
})
if (fault !== undefined) {
  console.error(`no release: ${fault}`)
  process.exitCode = 1
} else {
  makeRelease(version)
  console.log(`Next: make it a second time on another machine and compare SHA256SUMS; then
  git tag --sign v${version} --message "Sallyport ${version}"
sign release/SHA256SUMS, and publish the three files with the section of CHANGELOG.md.`)
}
