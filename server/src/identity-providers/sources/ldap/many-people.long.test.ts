import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { loopbackEgress } from '../../../../test/support/ldap-reading.ts'
import { ldif, reader, skipSlapd, startLdapServer, suffix } from '../../../../test/support/ldap-server.ts'
import { ldapSource } from './ldap-source.ts'

const people = 10_000
const groups = 1_000
/** Of each group, beside the first, which has everybody. */
const membersOfGroup = 50

const dnOf = (index: number) => `uid=person${index},ou=people,${suffix}`
const groupDn = (index: number) => `cn=group${index},ou=groups,${suffix}`

function* entries() {
  for (let index = 0; index < people; index++) {
    yield ldif(dnOf(index), {
      ...{ objectClass: 'inetOrgPerson', uid: `person${index}`, cn: `Person ${index}`, sn: `${index}` },
      ...{
        givenName: 'Person',
        mail: `person${index}@example.com`,
        title: 'Engineer',
        departmentNumber: `${index % 40}`,
      },
      manager: dnOf((index * 7 + 1) % people),
    })
  }
  for (let index = 0; index < groups; index++) {
    const size = index === 0 ? people : membersOfGroup
    const members = Array.from({ length: size }, (_, place) => dnOf((index * 13 + place) % people))
    // Ten chains of a hundred groups, each in the one before.
    const nested = index % 100 === 99 || index === 0 ? [] : [groupDn(index + 1)]
    yield ldif(groupDn(index), { objectClass: 'groupOfNames', cn: `group${index}`, member: [...members, ...nested] })
  }
}

suite('a large directory', { skip: skipSlapd }, () => {
  test(`of ${people} people and ${groups} groups is read whole`, async () => {
    const server = await startLdapServer([...entries()].join(''))
    const config = {
      ...{ host: server.host, port: server.tlsPort, ca_certificate: server.authority.ca },
      ...{ ...reader, base_dn: suffix },
    }
    const read = { people: new Set<string>(), managers: 0, groups: new Set<string>(), memberships: 0, pages: 0 }
    let mostBytes = 0
    const began = performance.now()
    for await (const page of ldapSource.open(config, loopbackEgress)({ groups: true }, new AbortController().signal)) {
      read.pages += 1
      for (const { id, resource } of page.people ?? []) {
        read.people.add(id)
        if (JSON.stringify(resource).includes('"manager"')) read.managers += 1
      }
      for (const { id, member_ids } of page.groups ?? []) {
        read.groups.add(id)
        read.memberships += member_ids.length
      }
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss)
    }
    const seconds = (performance.now() - began) / 1_000
    await server.stop()
    console.log(
      `${seconds.toFixed(1)} s, ${Math.round(mostBytes / 2 ** 20)} MiB of the process at most, ${read.pages} pages, ${read.memberships} memberships`,
    )
    assert.equal(read.people.size, people)
    assert.equal(read.managers, people)
    assert.equal(read.groups.size, groups)
  })
})
