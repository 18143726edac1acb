import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { readOrganization } from './organization.ts'

const id = '01a218f5-b3b7-72cb-8e45-591e4ea7afdd'
const cases: [entry: string, email: string, expected: ReturnType<typeof readOrganization>][] = [
  ['', 'ada@acme.example', { domain: 'acme.example' }],
  [' ', 'ada@ACME.example', { domain: 'acme.example' }],
  ['acme', 'ada@other.example', { slug: 'acme' }],
  [' Acme ', 'ada', { slug: 'acme' }],
  [id, 'ada@acme.example', { tenant_id: id }],
  [id.toUpperCase(), '', { tenant_id: id }],
  ['', 'ada', undefined],
  ['', 'ada@localhost', undefined],
  ['Acme Corporation', 'ada@acme.example', undefined],
]

suite('how a tenant is found', () => {
  for (const [entry, email, expected] of cases)
    test(`"${entry}" and ${email || 'no address'}`, () => assert.deepEqual(readOrganization(entry, email), expected))
})
