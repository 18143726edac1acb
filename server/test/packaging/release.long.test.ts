import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
const run = (cwd: string, program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/** A release and an installation from it load libraries. */
const online = spawnSync('npm', ['view', 'pg', 'version', '--fetch-retries=0']).status === 0
const skip = online ? false : 'the npm registry does not answer'

const folder = mkdtempSync(join(tmpdir(), 'sallyport-release-'))
// The embedded PostgreSQL of a service that root starts runs as another user.
chmodSync(folder, 0o711)
after(() => rmSync(folder, { recursive: true, force: true }))

/** A repository of what stands in this tree now, in one commit that is the same each time. */
function commitTree(name: string): string {
  const copy = join(folder, name)
  const files = run(root, 'git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0')
  for (const file of files.filter((each) => each !== '' && !/(?:^|\/)node_modules$/.test(each))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(root, file), join(copy, file))
  }
  // Its data is made at the end, when nothing changes any more. It is not in the archive.
  const data = join(copy, 'server/test/releases', version)
  mkdirSync(data, { recursive: true })
  for (const file of ['data-folder.zst', 'holds.json', 'sallyport.backup']) writeFileSync(join(data, file), '')
  run(copy, 'git', 'init', '--quiet')
  run(copy, 'git', 'add', '--all')
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const date = '2026-11-27T00:00:00Z'
  execFileSync('git', [...who, 'commit', '--quiet', '--message=a', `--date=${date}`], {
    cwd: copy,
    env: { ...process.env, GIT_COMMITTER_DATE: date },
  })
  return copy
}

suite('a release', { skip }, () => {
  const release = (name: string) => {
    const copy = commitTree(name)
    run(copy, process.execPath, 'packaging/release.ts')
    return join(copy, 'release')
  }
  let made = ''
  let installed = ''

  test('is made with its checksums', () => {
    made = release('one')
    run(made, 'sha256sum', '--check', 'SHA256SUMS')
  })

  test('has the same bytes when the same commit is released again, elsewhere', () => {
    const again = release('another')
    assert.equal(readFileSync(join(again, 'SHA256SUMS'), 'utf8'), readFileSync(join(made, 'SHA256SUMS'), 'utf8'))
  })

  test('holds no test, and knows its commit', () => {
    const archive = readdirSync(made).find((name) => name.endsWith('.tar.gz')) ?? ''
    installed = join(folder, 'installed')
    mkdirSync(installed)
    run(installed, 'tar', '-xzf', join(made, archive), '--strip-components=1')
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      names.filter((name) => /\.test\.ts$|^server\/test/.test(name)),
      [],
    )
    const commit = run(join(made, '..'), 'git', 'rev-parse', 'HEAD')
    assert.equal(readFileSync(join(installed, 'COMMIT'), 'utf8'), commit)
  })

  test('is installed by `npm ci`, and serves the API and the console without a build', async () => {
    run(installed, 'npm', 'ci', '--omit=dev', '--no-audit', '--no-fund')
    const { scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const [, ...words] = scripts.start.split(' ')
    const port = await freePort()
    const service = spawn(join(installed, 'node_modules/.bin/node'), words, {
      cwd: installed,
      env: { PATH, HOME, TMPDIR, DATA_DIR: join(folder, 'data'), PORT: `${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let log = ''
    for (const output of [service.stdout, service.stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        log += text
      })
    }
    const ended = once(service, 'close')
    const at = `http://127.0.0.1:${port}`
    try {
      await until('the installed service is ready', async () => {
        if (service.exitCode !== null) throw new Error(log)
        return (await fetch(`${at}/readyz`).catch(() => undefined))?.ok
      })
      assert.equal((await fetch(`${at}/livez`)).status, 200)
      const page = await fetch(`${at}/console/`)
      assert.match(await page.text(), /<script type="module"[^>]* src="\/console\/assets\//)
      assert.match(log, /console at http/)
      assert.equal(readdirSync(join(installed, 'console/dist')).length, 1)
    } finally {
      service.kill('SIGTERM')
      assert.equal((await ended)[0], 0, log)
    }
  })
})
