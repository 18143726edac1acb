import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { isAlive } from '../support/data-folder.ts'
import { type Sallyport, startOnTestServer } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The service builds its real console, in a folder of the test's own. */
function emptyFolder(): string {
  const builds = mkdtempSync(join(tmpdir(), 'console-builds-'))
  after(() => rmSync(builds, { recursive: true, force: true }))
  return builds
}

const startWith = (builds: string) => startOnTestServer({ CONSOLE_BUILDS: builds }, 'startWithFaults')

/** The process that builds into a folder below this one, held until it gets SIGCONT: a test need not be faster than the build. */
function holdBuild(builds: string): Promise<number> {
  return until('the build is going on', async () => {
    const pid = readdirSync('/proc').find((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(`build.ts\0${builds}/.tmp-`)
      } catch {
        return false
      }
    })
    if (pid !== undefined) process.kill(Number(pid), 'SIGSTOP')
    return pid === undefined ? undefined : Number(pid)
  })
}

const get = ({ base_url }: Sallyport, path: string) =>
  fetch(`${base_url}${path}`, { redirect: 'manual', headers: { 'accept-encoding': 'br' } })
const skip = process.platform !== 'linux' && 'processes are found by /proc'

suite('the console of a service that starts for the first time', { skip }, () => {
  test('is built while the API answers, and then served', async (t) => {
    const builds = emptyFolder()
    const service = await startWith(builds)
    const building = await holdBuild(builds)

    await t.test('a page says so meanwhile', async () => {
      assert.equal((await get(service, '/readyz')).status, 200)
      assert.equal((await service.client({ api_key: service.bootstrap.api_key })('GET', '/v1/users')).status, 200)
      assert.equal((await get(service, '/')).headers.get('location'), '/console/')
      const waiting = await get(service, '/console/')
      assert.deepEqual([waiting.status, waiting.headers.get('retry-after')], [503, '2'])
      assert.match(await waiting.text(), /being built/)
    })

    process.kill(building, 'SIGCONT')
    const page = await until('the console is served', async () => {
      const reply = await get(service, '/console/requests')
      return reply.status === 200 && reply.text()
    })

    await t.test('its script and its style come compressed, and are kept', async () => {
      const files = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, file]) => String(file))
      assert.ok(files.length >= 2, page)
      for (const file of files) {
        const { status, headers } = await get(service, file)
        assert.equal(status, 200, file)
        // A smaller file fits into the packets that its headers need anyway.
        const isSmall = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY) < 1_024
        if (!isSmall) assert.equal(headers.get('content-encoding'), 'br', file)
        assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      }
    })

    await t.test('the start says what it does, and the link to set it up is its last line', async () => {
      const has = (...patterns: RegExp[]) =>
        patterns.every((pattern) => service.said().some((said) => pattern.test(said)))
      await until('the last lines are there', async () => has(/^Open http/, /^the console is built/))
      const lines = service.said().slice(-4)
      const { base_url } = service
      assert.deepEqual(lines.slice(0, 2), [
        `Sallyport is ready at ${base_url} — console at ${base_url}/console/, reference at ${base_url}/docs`,
        'building the console (once for this version)…',
      ])
      const [built = '', link = ''] = lines.slice(2).sort().reverse()
      const [, seconds] = /^the console is built \((\d+\.\d) s\)$/.exec(built) ?? []
      assert.match(link, /^Open http\S+\/console\/setup#k=/)
      // The link waits for the build, but not longer than half a minute, which a build on a busy machine can take.
      if (Number(seconds) < 29) assert.equal(lines[3], link)
      assert.ok(Number(seconds) > 0, built)
    })

    await t.test('the next process finds it', async () => {
      const next = await startWith(builds)
      assert.equal(await (await get(next, '/console/')).text(), page)
      assert.doesNotMatch(next.output(), /building/)
    })
  })

  test('a stop ends the build, and removes what it made', async () => {
    const builds = emptyFolder()
    const service = await startWith(builds)
    const building = await holdBuild(builds)
    assert.equal(await service.stop(), 0, service.output())
    assert.ok(!isAlive(building))
    assert.deepEqual(readdirSync(builds), [])
    assert.equal(service.said().at(-1), 'SIGTERM: finishing the work in flight')
  })

  test('a service that is killed leaves no build that goes on', async () => {
    const builds = emptyFolder()
    const service = await startWith(builds)
    const building = await holdBuild(builds)
    await service.kill()
    process.kill(building, 'SIGCONT')
    await until('the build has ended', async () => !isAlive(building))
    const left = readdirSync(builds)
    assert.ok(
      left.every((name) => name.startsWith('.tmp-') && !existsSync(join(builds, name, 'index.html'))),
      `${left}`,
    )
  })
})
