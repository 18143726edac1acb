import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { builders, makeCheckout } from '../../test/support/console-checkout.ts'
import { until } from '../../test/support/wait.ts'
import { buildConsole } from './build-console.ts'
import type { Place } from './place.ts'
import { openServedConsole } from './served-console.ts'
import { hashSources } from './source-hash.ts'

async function open(place: Place) {
  const said: string[] = []
  return { said, ...(await openServedConsole((line) => said.push(line), place)) }
}

suite('the console of a service', () => {
  test('is built beside it, and says so', async () => {
    const place = makeCheckout()
    const site = await open(place)
    assert.deepEqual([site.state(), site.said], ['building', []])
    assert.deepEqual(await Promise.all([site.build(), site.build()]), [true, true])
    assert.deepEqual(site.state(), { folder: join(place.builds, await hashSources(place.root)) })
    assert.equal(site.said[0], 'building the console (once for this version)…')
    assert.match(String(site.said[1]), /^the console is built \(\d+\.\d s\)$/)
    assert.equal(site.said.length, 2)
  })

  test('is there at once, without a word, where it was built before', async () => {
    const place = makeCheckout()
    const folder = await buildConsole(place, new AbortController().signal, () => undefined)
    const site = await open(place)
    assert.deepEqual(site.state(), { folder })
    assert.equal(await site.build(), true)
    assert.deepEqual(site.said, [])
  })

  test('that fails is missing, and one line says why', async () => {
    const site = await open(makeCheckout(builders.failing))
    assert.equal(await site.build(), true)
    assert.deepEqual(site.said.slice(1), [
      'there is no console: its build failed: src/main.tsx: a word is missing; try `npm run console:build`, then start the service again',
    ])
    assert.match(JSON.stringify(site.state()), /"missing":"its build failed; the log/)
  })

  test('that cannot be kept is missing from the beginning, and one line says why', async () => {
    const place = makeCheckout()
    place.write('console/dist', 'a file in its place')
    const site = await open(place)
    assert.ok(site.state() !== 'building', 'the ready line would name the console')
    assert.equal(await site.build(), true)
    assert.match(site.said.join('\n'), /^there is no console: `console\/dist` .* cannot be written [^\n]*$/)
  })

  test('that the installation lacks is missing from the beginning', async () => {
    const site = await open({ root: '/nowhere', builds: '/nowhere/console/dist' })
    assert.match(site.said.join('\n'), /^there is no console: this installation lacks the folder `console`[^\n]*$/)
    assert.ok(site.state() !== 'building')
    assert.equal(await site.build(), true)
    assert.equal(site.said.length, 1)
  })

  test('whose build is going on ends with the service, without a word', async () => {
    const place = makeCheckout(builders.endless)
    const site = await open(place)
    const built = site.build()
    await until('the build is going on', async () => site.said.length > 0)
    await site.stop()
    assert.equal(await built, false)
    assert.deepEqual(site.said, ['building the console (once for this version)…'])
    assert.deepEqual(readdirSync(place.builds), [])
  })

  test('is not built after the service has stopped', async () => {
    const site = await open(makeCheckout())
    await site.stop()
    assert.equal(await site.build(), false)
    assert.deepEqual(site.said, [])
  })
})
