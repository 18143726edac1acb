import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openProviderKeys } from './provider-keys.ts'
import { RefusedByProvider } from './redeemed-account.ts'

const never = () => Promise.reject(new Error('no call is expected'))

suite('the address of a provider’s keys', () => {
  const cases: [string, string | undefined, boolean][] = [
    ['https://id.example.com', 'https://keys.example.com/jwks', true],
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/jwks', true],
    ['http://127.0.0.1:1', 'https://keys.example.com/jwks', true],
    ['https://id.example.com', 'http://id.example.com/jwks', false],
    ['https://id.example.com', 'file:///etc/passwd', false],
    ['https://id.example.com', 'data:application/json,{"keys":[]}', false],
    ['https://id.example.com', '/jwks', false],
    ['https://id.example.com', undefined, false],
  ]
  for (const [issuer, jwks_uri, allowed] of cases) {
    test(`${allowed ? 'may' : 'must not'} be ${jwks_uri} for ${issuer} (O12)`, () => {
      const open = () => openProviderKeys(issuer, jwks_uri, never)
      if (allowed) assert.doesNotThrow(open)
      else assert.throws(open, RefusedByProvider)
    })
  }
})
