import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { configOf, readRegion, regions } from './answers.ts'

suite('a region', () => {
  const cases: [text: string, expected: string | undefined][] = [
    ['eu-central-1', 'eu-central-1'],
    [' EU-West-1 ', 'eu-west-1'],
    ['us-gov-west-1', 'us-gov-west-1'],
    ['Frankfurt', undefined],
    ['eu-central-1a', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of cases)
    test(`“${text}” is ${expected ?? 'none'}`, () => assert.equal(readRegion(text), expected))

  test('that is offered is one, and is offered once', () => {
    assert.deepEqual(regions.map(readRegion), [...new Set(regions)])
  })
})

suite('the answers', () => {
  const cases: [region: string, account: string, expected: object | undefined][] = [
    ['eu-west-1', '1234 5678-9012', { region: 'eu-west-1', account_id: '123456789012' }],
    ['eu-west-1', '1234', undefined],
    ['Ireland', '123456789012', undefined],
  ]
  for (const [region, account, expected] of cases)
    test(`${region} and ${account} are ${expected === undefined ? 'not enough' : 'a config'}`, () =>
      assert.deepEqual(configOf({ region, account }), expected))
})
