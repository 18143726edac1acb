import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../../require-node.cjs', import.meta.url))

/** What the check does in a Node of this version. */
function checkIn(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
  return spawnSync(process.execPath, ['-e', `${pretend}; require(${JSON.stringify(file)})`], { encoding: 'utf8' })
}

suite('npm start', () => {
  for (const version of ['18.20.4', '20.20.2', '22.22.0', '24.10.0', '25.9.9']) {
    test(`refuses Node ${version}, and says what to do`, () => {
      const { status, stderr } = checkIn(version)
      assert.equal(status, 1)
      assert.match(
        stderr,
        /^Sallyport does not start: it needs Node \^24\.11 \|\| >=26, and this is .*install Node 24\n$/,
      )
      assert.ok(stderr.includes(`this is ${version}. `))
    })
  }
  for (const version of ['24.11.0', '24.21.0', '26.0.0']) {
    test(`accepts Node ${version}`, () => {
      const { status, stderr } = checkIn(version)
      assert.deepEqual([status, stderr], [0, ''])
    })
  }
})
