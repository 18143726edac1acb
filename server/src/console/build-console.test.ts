import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { builders, makeCheckout } from '../../test/support/console-checkout.ts'
import { isAlive } from '../../test/support/data-folder.ts'
import { until } from '../../test/support/wait.ts'
import { buildConsole, findConsole, NoBuild } from './build-console.ts'
import type { Place } from './place.ts'
import { hashSources } from './source-hash.ts'

const { signal } = new AbortController()
const nothing = () => undefined
const build = (place: Place) => buildConsole(place, signal, nothing)

/** Has it be so many hours ago that the folder was written. */
function age(folder: string, hours: number): void {
  const then = Date.now() / 1_000 - hours * 3_600
  utimesSync(folder, then, then)
}

suite('a build of the console', () => {
  test('is made once, and found from then on', async () => {
    const place = makeCheckout()
    const begun: string[] = []
    const once = () => buildConsole(place, signal, () => begun.push('begun'))
    assert.equal(await findConsole(place), undefined)
    const folder = await once()
    assert.equal(folder, join(place.builds, await hashSources(place.root)))
    assert.equal(readFileSync(join(folder, 'index.html'), 'utf8'), 'a page')
    assert.deepEqual([await once(), await findConsole(place), begun.length], [folder, folder, 1])
    assert.deepEqual(readdirSync(place.builds), [folder.slice(-16)])
  })

  test('can be read by a service that runs as another user', async () =>
    assert.equal(statSync(await build(makeCheckout())).mode & 0o777, 0o755))

  test('of several processes at once is one, and all get it', async () => {
    const place = makeCheckout()
    const folders = await Promise.all(Array.from({ length: 4 }, () => build(place)))
    assert.equal(new Set(folders).size, 1)
    assert.deepEqual(readdirSync(place.builds), [folders[0]?.slice(-16)])
  })

  test('is made of sources that stay the same meanwhile', async () => {
    const place = makeCheckout(`
      const main = new URL('src/main.tsx', import.meta.url)
      write('index.html', readFileSync(main, 'utf8'))
      writeFileSync(main, 'edited')
      import { readFileSync } from 'node:fs'`)
    const folder = await build(place)
    assert.equal(readFileSync(join(folder, 'index.html'), 'utf8'), 'edited')
    assert.deepEqual(readdirSync(place.builds), [folder.slice(-16)])
  })

  test('is given up when its sources do not stay the same', async () => {
    const place = makeCheckout(`
      write('index.html', '')
      writeFileSync(new URL('src/main.tsx', import.meta.url), String(Math.random()))`)
    await assert.rejects(build(place), /sources change while it is built; try again/)
    assert.deepEqual(readdirSync(place.builds), [])
  })

  test('knows no secret of the service, and gives way to it', async () => {
    process.env.SECRET_KEY = 'of the service'
    process.env.VITE_ADDED = 'to the page'
    try {
      const place = makeCheckout(`
        import { getPriority } from 'node:os'
        write('index.html', JSON.stringify([getPriority(), Object.keys(process.env)]))`)
      const text = readFileSync(join(await build(place), 'index.html'), 'utf8')
      const [priority, names] = JSON.parse(text) as [number, string[]]
      assert.ok(priority >= constants.priority.PRIORITY_BELOW_NORMAL, `priority ${priority}`)
      assert.ok(names.includes('PATH'))
      assert.deepEqual(
        names.filter((name) => /SECRET|VITE|DATABASE/.test(name)),
        [],
      )
    } finally {
      delete process.env.SECRET_KEY
      delete process.env.VITE_ADDED
    }
  })
})

suite('what older builds left', () => {
  test('is removed after a success: builds after a day, the remains of a killed build after ten minutes', async () => {
    const place = makeCheckout()
    const ages = {
      '0000000000000000': 25,
      '1111111111111111': 23,
      '.tmp-killed': 0.2,
      '.tmp-going': 0.1,
      'a-folder-of-somebody': 999,
    }
    for (const [name, hours] of Object.entries(ages)) {
      mkdirSync(join(place.builds, name), { recursive: true })
      writeFileSync(join(place.builds, name, 'index.html'), '')
      age(join(place.builds, name), hours)
    }
    const folder = await build(place)
    assert.deepEqual(
      readdirSync(place.builds).sort(),
      ['.tmp-going', '1111111111111111', 'a-folder-of-somebody', folder.slice(-16)].sort(),
    )
  })

  test('is kept when the build fails', async () => {
    const place = makeCheckout(builders.failing)
    mkdirSync(join(place.builds, '0000000000000000'), { recursive: true })
    age(join(place.builds, '0000000000000000'), 999)
    await assert.rejects(build(place))
    assert.deepEqual(readdirSync(place.builds), ['0000000000000000'])
  })
})

suite('there is no build, and a sentence says why,', () => {
  const refused = async (place: Place) => {
    const error: unknown = await build(place).then(nothing, (error: unknown) => error)
    assert.ok(error instanceof NoBuild, String(error))
    return error
  }

  test('when it fails: with its first line, which the page does not show', async () => {
    const place = makeCheckout(builders.failing)
    const { message, shown } = await refused(place)
    assert.equal(
      message,
      'its build failed: src/main.tsx: a word is missing; try `npm run console:build`, then start the service again',
    )
    assert.match(shown, /^its build failed; the log/)
    assert.deepEqual(readdirSync(place.builds), [])
  })

  test('when it is killed from outside', async () => {
    const place = makeCheckout(`process.kill(process.pid, 'SIGKILL')`)
    assert.match((await refused(place)).message, /^its build failed: SIGKILL;/)
  })

  test('when its folder cannot be written', async () => {
    const place = makeCheckout()
    place.write('console/dist', 'a file in its place')
    const { message, shown } = await refused(place)
    assert.match(message, /^`console\/dist` holds no build of this version and cannot be written \(\w+\); run `npm run/)
    assert.equal(shown, message)
  })

  test('when the installation has no console', async () => {
    const { message } = await refused({ root: join(makeCheckout().root, 'server'), builds: '/nowhere' })
    assert.match(message, /lacks the folder `console`; install/)
  })
})

test('a folder that cannot be written serves the build that it has, and nothing is built', async () => {
  const place = makeCheckout(builders.failing)
  const folder = join(place.builds, await hashSources(place.root))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'index.html'), '')
  assert.deepEqual([await findConsole(place), await build(place)], [folder, folder])
})

test('a build that is ended leaves no process and no folder', async () => {
  const place = makeCheckout(builders.endless)
  const ending = new AbortController()
  const building = buildConsole(place, ending.signal, nothing)
  const pid = await until('the build is going on', async () => {
    const [name = ''] = existsSync(place.builds) ? readdirSync(place.builds) : []
    const note = join(place.builds, name, 'part')
    return existsSync(note) && Number(readFileSync(note, 'utf8'))
  })
  assert.ok(isAlive(pid))
  ending.abort()
  await assert.rejects(building, NoBuild)
  assert.ok(!isAlive(pid))
  assert.deepEqual(readdirSync(place.builds), [])
})
