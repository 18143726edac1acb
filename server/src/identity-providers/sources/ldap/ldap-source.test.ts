import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { loopbackEgress, type Reading, readAll } from '../../../../test/support/ldap-reading.ts'
import {
  blind,
  ldif,
  limited,
  reader,
  skipSlapd,
  startLdapServer,
  suffix,
} from '../../../../test/support/ldap-server.ts'
import { userKind } from '../../../scim/attribute.ts'
import { readResource } from '../../../scim/read-resource.ts'
import { ldapSource } from './ldap-source.ts'

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const peopleBase = `ou=people,${suffix}`
const groupsBase = `ou=groups,${suffix}`

function person(uid: string, more: Record<string, string | string[]> = {}): string {
  const own = { objectClass: 'inetOrgPerson', uid, cn: `${uid} Example`, sn: 'Example', mail: `${uid}@example.com` }
  return ldif(`uid=${uid},${peopleBase}`, { ...own, ...more })
}

function group(cn: string, attributes: Record<string, string | string[]>): string {
  return ldif(`cn=${cn},${groupsBase}`, { cn, ...attributes })
}

const ofNames = (cn: string, ...member: string[]) => group(cn, { objectClass: 'groupOfNames', member })
const dnOf = (uid: string) => `uid=${uid},${peopleBase}`

/** Managers stand before and after those they manage, and in a circle. */
const entries = [
  person('ada', { manager: dnOf('zoe'), givenName: 'Ada', title: 'Analyst', departmentNumber: 'Engines' }),
  person('grace', { manager: 'UID=Ada , OU=People,DC=Example, DC=com' }),
  person('zoe', { manager: dnOf('ada'), mail: ['zoe@example.com', 'a.zoe@example.com'] }),
  person('alan', { manager: `uid=nobody,${peopleBase}` }),
  person('lena', { pwdAccountLockedTime: '000001010000Z' }),
  person('hidden-member', { memberOf: `cn=silent,${groupsBase}` }),
  ldif(`cn=Müller\\, Jürgen+uid=jürgen,${peopleBase}`, {
    ...{ objectClass: 'inetOrgPerson', uid: 'jürgen', cn: 'Müller, Jürgen', sn: 'Müller' },
  }),
  ldif(`cn=printer,${peopleBase}`, { objectClass: 'device', cn: 'printer' }),
  ofNames('staff', dnOf('ada'), `cn=engineers,${groupsBase}`, `uid=nobody,${peopleBase}`),
  ofNames('engineers', `CN=inner , OU=Groups,${suffix}`, dnOf('grace')),
  ofNames('inner', `UID=J\\C3\\BCrgen+cn=m\\C3\\BCller\\2C j\\C3\\BCrgen,${peopleBase}`, `cn=staff,${groupsBase}`),
  group('unique', { objectClass: 'groupOfUniqueNames', uniqueMember: [`${dnOf('alan')}#'0101'B`, dnOf('zoe')] }),
  group('posix', { objectClass: 'posixGroup', gidNumber: '100', memberUid: ['ada', 'nobody'] }),
  group('empty', { objectClass: 'posixGroup', gidNumber: '101' }),
  ofNames('silent', dnOf('hidden-member')),
  ldif(`ou=split,${suffix}`, { objectClass: 'organizationalUnit', ou: 'split' }),
  ldif(`ou=far,ou=split,${suffix}`, {
    ...{ objectClass: ['referral', 'extensibleObject'], ou: 'far', ref: `ldap://192.0.2.1/ou=far,${suffix}` },
  }),
].join('')

/** Nobody sees who is in one of the groups. */
const access = [`dn.exact="cn=silent,${groupsBase}" attrs=member by * none`]

suite('a directory of OpenLDAP', { skip: skipSlapd }, async () => {
  if (skipSlapd !== false) return
  const server = await startLdapServer(entries, access)
  after(server.stop)
  const config = {
    ...{ host: server.host, port: server.tlsPort, ca_certificate: server.authority.ca },
    ...{ ...reader, base_dn: suffix, user_base_dn: peopleBase, group_base_dn: groupsBase },
  }
  const idOf = ({ people }: Reading, userName: string) =>
    [...people].find(([, resource]) => resource.userName === userName)?.[0] ?? `nobody is \`${userName}\``
  const membersOf = (read: Reading, name: string) => {
    const members = read.groups.get(name)?.members ?? new Set(['no such group'])
    return [...members].map((id) => read.people.get(id)?.userName ?? id).sort()
  }

  test('has no faults', async () => assert.deepEqual(await ldapSource.findFaults(config, loopbackEgress), []))

  test('is read with its people, before the groups, and without other things', async () => {
    const read = await readAll(config)
    const names = [...read.people.values()].map(({ userName }) => userName).sort()
    assert.deepEqual(names, ['ada', 'alan', 'grace', 'hidden-member', 'jürgen', 'lena', 'zoe'])
    const lastPeople = read.pages.findLastIndex(({ people }) => people !== undefined)
    assert.ok(lastPeople < read.pages.findIndex(({ groups }) => groups !== undefined))
    assert.deepEqual(read.people.get(idOf(read, 'ada')), {
      userName: 'ada',
      name: { formatted: 'ada Example', familyName: 'Example', givenName: 'Ada' },
      displayName: 'ada Example',
      title: 'Analyst',
      active: true,
      emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
      [enterprise]: { department: 'Engines', manager: { value: idOf(read, 'zoe') } },
    })
  })

  test('is read as SCIM has it', async () => {
    for (const resource of (await readAll(config)).people.values()) {
      assert.deepEqual(readResource(userKind, resource), resource)
    }
  })

  for (const page_size of [1, 2, 3, 7, 1_000]) {
    test(`is the same in pages of ${page_size}`, async () => {
      const [one, other] = [await readAll(config), await readAll({ ...config, page_size })]
      assert.deepEqual(other.people, one.people)
      assert.equal(other.pages.filter(({ people }) => people?.length).length, Math.ceil(7 / page_size))
      assert.deepEqual(other.groups, one.groups)
    })
  }

  test('gives managers by id, whatever the spelling of their DN, on whichever page they are', async () => {
    const read = await readAll({ ...config, page_size: 1 })
    const managerOf = (userName: string) => read.people.get(idOf(read, userName))?.[enterprise]
    assert.deepEqual(managerOf('zoe'), { manager: { value: idOf(read, 'ada') } })
    assert.deepEqual(managerOf('grace'), { manager: { value: idOf(read, 'ada') } })
    assert.equal(managerOf('alan'), undefined)
  })

  test('says who is disabled', async () => {
    const read = await readAll(config)
    const disabled = [...read.people.values()].filter(({ active }) => active === false)
    assert.deepEqual(
      disabled.map(({ userName }) => userName),
      ['lena'],
    )
  })

  test('has groups with the people of nested groups, also where groups contain each other', async () => {
    const read = await readAll(config)
    for (const name of ['staff', 'engineers', 'inner']) {
      assert.deepEqual(membersOf(read, name), ['ada', 'grace', 'jürgen'], name)
    }
    assert.deepEqual(membersOf(read, 'unique'), ['alan', 'zoe'])
    assert.deepEqual(membersOf(read, 'posix'), ['ada'])
    assert.deepEqual(membersOf(read, 'empty'), [])
  })

  test('has the people of a group that shows no members by their memberOf', async () => {
    assert.deepEqual(membersOf(await readAll(config), 'silent'), ['hidden-member'])
  })

  test('is read without its groups where nobody wants them', async () => {
    const read = await readAll(config, { groups: false })
    assert.equal(read.people.size, 7)
    assert.ok(read.pages.every(({ groups }) => groups === undefined))
  })

  test('is read over StartTLS, and on the loopback interface also without TLS', async () => {
    const { people } = await readAll(config)
    const plain = { ...config, port: server.port }
    assert.deepEqual((await readAll({ ...plain, start_tls: true })).people, people)
    assert.deepEqual((await readAll({ ...plain, tls: 'off' })).people, people)
    assert.deepEqual((await readAll({ ...config, host: 'localhost' })).people, people)
  })

  test('is read as far as the filters go', async () => {
    const read = await readAll({ ...config, user_filter: '(uid=jürgen)', group_filter: '(cn=in*)' })
    assert.equal(read.people.size, 1)
    assert.deepEqual([...read.groups.keys()], ['inner'])
    assert.deepEqual(membersOf(read, 'inner'), ['jürgen'])
  })

  const refusals: [string, Record<string, unknown>, { kind: string; message: RegExp }][] = [
    ['a wrong password', { bind_password: 'wrong' }, { kind: 'permanent', message: /sign-in.*`bind_password`/ }],
    ['an unknown account', { bind_dn: `cn=x,${suffix}` }, { kind: 'permanent', message: /sign-in.*`bind_dn`/ }],
    [
      'a base that is not there',
      { user_base_dn: `ou=x,${suffix}` },
      { kind: 'permanent', message: /searched at `user_base_dn` `ou=x,dc=example,dc=com`, has no such base/ },
    ],
    ['an account that sees nobody', blind, { kind: 'permanent', message: /no such base, or does not let `bind_dn`/ }],
    ['nobody found', { user_filter: '(uid=x)' }, { kind: 'permanent', message: /nobody below.*`user_filter`/ }],
    ['a size limit', limited, { kind: 'permanent', message: /limit/ }],
    ['a size limit between two pages', { ...limited, page_size: 2 }, { kind: 'permanent', message: /limit/ }],
    [
      'a part on another server',
      { user_base_dn: suffix },
      { kind: 'permanent', message: /refers to `ldap:\/\/192\.0\.2\.1\/ou=far.*not followed/ },
    ],
    [
      'an id that is missing',
      { id_attribute: 'employeeNumber' },
      { kind: 'permanent', message: /no `employeeNumber`/ },
    ],
    ['an id that several have', { id_attribute: 'sn' }, { kind: 'permanent', message: /same id `Example`/ }],
    ['a port without LDAP', { port: server.port }, { kind: 'transient', message: /TLS.*`port`/ }],
    ['TLS at a port that begins with it', { start_tls: true }, { kind: 'transient', message: /`start_tls`/ }],
    ['an unknown authority', { ca_certificate: undefined }, { kind: 'permanent', message: /`ca_certificate`/ }],
  ]
  for (const [what, more, refused] of refusals) {
    test(`is not read with ${what}`, async () => {
      await assert.rejects(readAll({ ...config, ...more }), { name: 'TargetError', ...refused })
    })
  }

  test('is not read on once the caller stops', async () => {
    const stopping = new AbortController()
    const { signal } = stopping
    const reading = ldapSource.open({ ...config, page_size: 1 }, loopbackEgress)({ groups: true }, signal)
    const stopped = { name: 'TargetError', kind: 'transient', message: 'the reading was stopped' }
    await assert.rejects(async () => {
      for await (const _ of reading) stopping.abort()
    }, stopped)
    await assert.rejects(readAll(config, { signal }), stopped)
  })
})
