import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readLogoutUrl } from './logout-url.ts'

suite('the sign-out of a provider', () => {
  const cases: [string | null, boolean][] = [
    ['https://login.example.com/logout?client_id=a', true],
    ['http://login.example.com/logout', false],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['//login.example.com', false],
    ['', false],
    [null, false],
  ]
  for (const [url, taken] of cases)
    test(`at ${url ?? 'no address'} is ${taken ? 'visited' : 'left out'}`, () =>
      assert.equal(readLogoutUrl(url), taken ? url : undefined))
})
