import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { parse } from 'yaml'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const packageAt = (folder: string) => JSON.parse(read(`${folder}package.json`)) as Package
type Package = { version: string; scripts?: Record<string, string>; dependencies?: Record<string, string> }

const { version, scripts = {} } = packageAt('')
const dockerfile = read('Dockerfile')

suite('the version of package.json is that of', () => {
  for (const folder of ['server/', 'client/', 'console/']) {
    test(folder, () => assert.equal(packageAt(folder).version, version))
  }
  test('the client that the console depends on', () =>
    assert.equal(packageAt('console/').dependencies?.['@sallyport/client'], version))
  test('the lock file', () => {
    const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> }
    const ours = ['', 'server', 'client', 'console'].map((folder) => lock.packages[folder]?.version)
    assert.deepEqual(ours, [version, version, version, version])
  })
  test('the image', () => {
    assert.match(dockerfile, new RegExp(`^ARG VERSION=${RegExp.escape(version)}$`, 'm'))
    assert.match(read('compose.yaml'), new RegExp(`image: sallyport:${RegExp.escape(version)}$`, 'm'))
  })
})

suite('the image', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

  test('has the Node of `.node-version`', () => {
    const bases = [...dockerfile.matchAll(/^FROM node:(\S+)-bookworm-slim/gm)].map(([, node]) => node)
    assert.deepEqual(new Set(bases), new Set([read('.node-version').trim()]))
  })
  test('starts the service as `npm start` does, without a shell and as a user who owns nothing else', () => {
    const words = JSON.stringify(scripts.start?.split(' ')).replaceAll(',', ', ')
    assert.ok(last.includes(`\nCMD ${words}\n`), words)
    assert.match(last, /^USER 10001:10001$/m)
  })
  test('installs nothing in its last stage', () => assert.doesNotMatch(last, /npm (ci|install)|apt/))
})

type Service = { read_only?: boolean; cap_drop?: string[]; security_opt?: string[]; restart?: string; user?: string }

suite('compose.yaml', () => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as { services: Record<string, Service> }
  for (const [name, service] of Object.entries(services)) {
    test(`${name} can write to its volumes alone, gains no right, and is restarted where it should run`, () => {
      assert.equal(service.read_only, true)
      assert.deepEqual(service.cap_drop, ['ALL'])
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
      assert.ok(service.restart !== undefined)
    })
  }
  test('holds no password', () => assert.doesNotMatch(read('compose.yaml'), /PASSWORD: |:\/\/\w+:[^@\s]+@/))
})
