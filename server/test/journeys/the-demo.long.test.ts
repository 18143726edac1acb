import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startOnTestServer, startScript } from '../support/sallyport.ts'

const { data_dir } = await startOnTestServer()

test('the demo passes all steps, and again in a second run', async (t) => {
  for (const time of ['first', 'second']) {
    const demo = startScript('demo', [], { DATA_DIR: data_dir })
    assert.equal(await demo.end(), 0, demo.output())
    const [, seconds] = /All steps passed: \d+ steps in ([\d.]+) s/.exec(demo.output()) ?? []
    assert.ok(seconds !== undefined, demo.output())
    assert.ok(!demo.output().includes('\u001b'), 'there are colours without a terminal')
    t.diagnostic(`the ${time} time in ${seconds} s (at most 15)`)
  }
})

const refused: [string, string[], RegExp][] = [
  [
    'without the file of the first start',
    ['--data-dir', '/nowhere'],
    /there is no `\/nowhere\/bootstrap\.json`.*npm start/,
  ],
  ['without a server', ['--data-dir', data_dir, '--url', 'http://127.0.0.1:9'], /no server answers at .*npm start/],
  ['with an invalid key', ['--data-dir', data_dir, '--key', 'sp_no'], /does not accept the key.*401/],
  ['with an unknown option', ['--fast'], /Unknown option '--fast'[\s\S]*--data-dir/],
]

for (const [what, args, sentence] of refused) {
  test(`${what}, the demo fails and says what to do`, async () => {
    const demo = startScript('demo', args, {})
    assert.equal(await demo.end(), 1)
    assert.match(demo.output(), sentence)
  })
}
