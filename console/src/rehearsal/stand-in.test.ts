import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addressAs, standInOf } from './stand-in.ts'

const ben = '01a21327-76eb-7182-8cc4-fa4ff1a5e0f7'

suite('the colleague whom an address names', () => {
  const cases: [string, string | undefined][] = [
    [addressAs(ben, '/'), ben],
    [addressAs(ben, ''), ben],
    [addressAs(ben, '/requests/01a21327-76eb-7182-8cc4-fa4ff1a5e0f8'), ben],
    ['/console/', undefined],
    ['/console/as/', undefined],
    ['/console/as/ben', undefined],
    [`/console/as/${ben}0/`, undefined],
    [`/console/requests/as/${ben}`, undefined],
    [`/other/console/as/${ben}`, undefined],
  ]
  for (const [path, id] of cases) test(`${path}: ${id ?? 'none'}`, () => assert.equal(standInOf(path), id))
})
