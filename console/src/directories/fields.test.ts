import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { configOf, type Entry, entryOf, missingIn, type ReadWay } from './fields.ts'

const entry = (texts: Entry['texts'], more: Partial<Entry> = {}): Entry => ({ texts, start_tls: false, ...more })

suite('the config of an entry', () => {
  const store = { provisioner_id: 'p1', identity_store_id: 'd-1' }
  const cases: [what: string, way: ReadWay, entry: Entry, before: object | undefined, expected: object][] = [
    [
      'has the protocol, and the texts without spaces around them',
      'scim',
      entry({ base_url: ' https://scim.example.com ', token: ' a ' }),
      undefined,
      { protocol: 'scim', base_url: 'https://scim.example.com', token: ' a ' },
    ],
    [
      'has numbers, and a text that is none as it is',
      'ldap',
      entry({ port: '3636', sync_interval_minutes: 'often' }),
      undefined,
      { protocol: 'ldap', port: 3636, sync_interval_minutes: 'often' },
    ],
    ['has StartTLS', 'ldap', entry({}, { start_tls: true }), undefined, { protocol: 'ldap', start_tls: true }],
    ['names the store', 'center', entry({}, { store }), undefined, store],
    [
      'keeps a secret that is not entered, and what the form does not know',
      'ldap',
      entry({ host: 'b' }),
      { protocol: 'ldap', host: 'a', port: 389, start_tls: true, bind_password: '[redacted]', sync_groups: false },
      { protocol: 'ldap', host: 'b', bind_password: '[redacted]', sync_groups: false },
    ],
    [
      'has a new secret in place of the one before',
      'scim',
      entry({ base_url: 'a', token: 'new' }),
      { base_url: 'a', token: '[redacted]' },
      { protocol: 'scim', base_url: 'a', token: 'new' },
    ],
  ]
  for (const [what, way, entered, before, expected] of cases)
    test(what, () => assert.deepEqual(configOf(way, entered, before as Record<string, unknown>), expected))
})

suite('what is missing', () => {
  const cases: [what: string, way: ReadWay, entry: Entry, before: object, expected: string[]][] = [
    ['is each needed field', 'ldap', entry({ host: ' ' }), {}, ['host', 'base_dn', 'bind_dn', 'bind_password']],
    ['is not a secret that is stored', 'scim', entry({ base_url: 'a' }), { token: '[redacted]' }, []],
    ['is nothing of a store that is chosen', 'center', entry({}), {}, []],
  ]
  for (const [what, way, entered, before, expected] of cases)
    test(what, () => assert.deepEqual(missingIn(way, entered, before as Record<string, unknown>), expected))
})

test('a form shows what is stored, but no secret', () => {
  const config = { protocol: 'ldap', host: 'a', port: 636, bind_password: '[redacted]', start_tls: true, page_size: 7 }
  assert.deepEqual(entryOf('ldap', config), { texts: { host: 'a', port: '636' }, start_tls: true })
  const store = { provisioner_id: 'p1', identity_store_id: 'd-1' }
  assert.deepEqual(entryOf('center', store).store, store)
})
