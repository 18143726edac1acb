import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { selfSigned } from '../../../../test/support/certificates.ts'
import { loopbackEgress } from '../../../../test/support/ldap-reading.ts'
import { readEgressAllow } from '../../../egress/allow-list.ts'
import { openEgress } from '../../../egress/egress.ts'
import { shownFieldsOf } from '../../provider-config.ts'
import { readSettings } from './ldap-config.ts'
import { ldapSource } from './ldap-source.ts'

const config = {
  host: '127.0.0.1',
  bind_dn: 'CORP\\sync',
  bind_password: 'a password',
  base_dn: 'dc=example,dc=com',
}

const faulty: [string, Record<string, unknown>, string, RegExp][] = [
  ['no host', { host: undefined }, 'host', /is required/],
  ['a host that is a URL', { host: 'ldaps://ldap.example.com/' }, 'host', /name or the address/],
  ['a host with its port', { host: 'ldap.example.com:636' }, 'host', /without a port/],
  ['a host in a closed network', { host: '10.0.0.1' }, 'host', /EGRESS_ALLOW/],
  ['a port that is none', { port: 65_536 }, 'port', /1 to 65535/],
  ['a word for start_tls', { start_tls: 'true' }, 'start_tls', /true or false/],
  ['another word for tls', { tls: 'no' }, 'tls', /`verify` or `off`/],
  ['no TLS for another host', { host: 'ldap.example.com', tls: 'off' }, 'tls', /only for a loopback address/],
  ['no TLS and StartTLS', { tls: 'off', start_tls: true }, 'start_tls', /no meaning/],
  ['no account', { bind_dn: '' }, 'bind_dn', /account that reads/],
  ['no password', { bind_password: undefined }, 'bind_password', /is required/],
  ['an empty password, with which anybody gets in', { bind_password: '' }, 'bind_password', /1 to 1000 characters/],
  ['a key beside the certificate', { ca_certificate: '-----BEGIN PRIVATE KEY-----' }, 'ca_certificate', /only PEM/],
  ['no base', { base_dn: undefined }, 'base_dn', /is required/],
  ['a base that is no DN', { base_dn: 'example.com' }, 'base_dn', /must be a DN/],
  ['another base that is no DN', { group_base_dn: 'ou=a,,dc=b' }, 'group_base_dn', /must be a DN/],
  ['a filter that is none', { user_filter: '(uid=*' }, 'user_filter', /must be an LDAP filter, such as/],
  ['a filter with bytes beyond ASCII', { user_filter: '(cn=J\\c3\\bcrgen)' }, 'user_filter', /as they are, without/],
  ['a filter that is too long', { group_filter: `(cn=${'x'.repeat(500)})` }, 'group_filter', /at most 500/],
  ['pages of none', { page_size: 0 }, 'page_size', /1 to 1000/],
  ['pages of too many', { page_size: 1_001 }, 'page_size', /1 to 1000/],
  ['pages of a half', { page_size: 1.5 }, 'page_size', /1 to 1000/],
  ['an attribute that is none', { id_attribute: 'entry UUID' }, 'id_attribute', /name of an attribute/],
]

suite('a config', () => {
  test('of the needed fields has no faults', async () => {
    assert.deepEqual(await ldapSource.findFaults(config, loopbackEgress), [])
  })

  test('with all fields has no faults, and is shown but for the password', async () => {
    const certificate = selfSigned('DNS:localhost')
    const all = {
      ...config,
      ...{ port: 3636, start_tls: false, tls: 'verify', user_base_dn: 'ou=p,dc=x', group_base_dn: 'ou=g,dc=x' },
      ...{ user_filter: '(&(uid=*)(!(cn=Jürgen \\28x\\29)))', group_filter: '(cn=a*)', page_size: 1_000 },
      ...{ id_attribute: 'nsUniqueId', user_name_attribute: 'uid', email_attribute: 'mail', title_attribute: 'title' },
      ...{ department_attribute: 'ou;lang-en', manager_attribute: 'manager' },
      ...(certificate && { ca_certificate: certificate.cert }),
    }
    assert.deepEqual(await ldapSource.findFaults(all, loopbackEgress), [])
    const shown = shownFieldsOf.directory_a as Record<string, { shows(value: unknown): boolean; leads: boolean }>
    const hidden = Object.entries(all).filter(([name, value]) => !shown[name]?.shows(value))
    assert.deepEqual(
      hidden.map(([name]) => name),
      ['bind_password'],
    )
  })

  test('leads the password by what determines whom it is sent to', () => {
    const shown: Record<string, { leads: boolean }> = shownFieldsOf.directory_a
    const leading = ['host', 'port', 'start_tls', 'tls', 'ca_certificate'].filter((name) => !shown[name]?.leads)
    assert.deepEqual(leading, [])
  })

  for (const [what, more, field, why] of faulty) {
    test(`with ${what} is refused`, async () => {
      const faults = await ldapSource.findFaults({ ...config, ...more }, loopbackEgress)
      assert.deepEqual(
        faults.map(({ pointer }) => pointer),
        [`/config/${field}`],
      )
      assert.match(faults[0]?.why ?? '', why)
    })
  }

  test('may have an address of IPv6, with and without brackets', async () => {
    for (const host of ['::1', '[::1]']) {
      const faults = await ldapSource.findFaults({ ...config, host }, openEgress(readEgressAllow('::1')))
      assert.deepEqual(faults, [], host)
      assert.equal(readSettings({ ...config, host }).host, '::1')
    }
  })

  test('has the usual port of each kind of TLS', () => {
    assert.equal(readSettings(config).port, 636)
    assert.equal(readSettings({ ...config, start_tls: true }).port, 389)
    assert.equal(readSettings({ ...config, tls: 'off' }).port, 389)
    assert.equal(readSettings({ ...config, start_tls: true, port: 3389 }).port, 3389)
  })
})
