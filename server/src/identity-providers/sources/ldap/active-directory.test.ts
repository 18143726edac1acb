import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { readAll } from '../../../../test/support/ldap-reading.ts'
import {
  bindResult,
  entry,
  type LdapRequest,
  openScriptedLdap,
  operations,
  reference,
  searchDone,
  type Values,
} from '../../../../test/support/scripted-ldap.ts'

const base = 'DC=corp,DC=example,DC=com'
const guidOf = (index: number) => Buffer.from(index.toString(16).padStart(32, '0'), 'hex')
/** The last bytes of a GUID are not reversed. */
const idOf = (index: number) => `00000000-0000-0000-0000-${index.toString(16).padStart(12, '0')}`
const userDn = (index: number) => `CN=User ${index},OU=Staff,${base}`
const groupDn = `CN=Everyone,OU=Groups,${base}`
const silentDn = `CN=Silent,OU=Groups,${base}`

const users = 25
const rangeOf = 10

function user(id: number, index: number): Buffer {
  const more: Values =
    index === 3 ? { memberOf: [silentDn], userAccountControl: ['514'] } : { userAccountControl: ['512'] }
  return entry(id, userDn(index), {
    objectGUID: [guidOf(index)],
    cn: [`User ${index}`],
    userPrincipalName: [`user${index}@corp.example.com`],
    ...more,
  })
}

/** A part of the members, as Active Directory sends them: at most so many at once, and a star at the end. */
function members(from: number): Values {
  const to = Math.min(from + rangeOf, users)
  const values = Array.from({ length: to - from }, (_, index) => userDn(from + index))
  return { [`member;range=${from}-${to === users ? '*' : to - 1}`]: values }
}

/** Active Directory as it answers a search from the top of a domain: also with empty pages, and with references to parts of itself. */
function answer({ id, operation, text }: LdapRequest): Buffer[] {
  if (operation === operations.bind) return [bindResult(id)]
  const range = /member;range=(\d+)-\*/.exec(text)
  if (range !== null) return [entry(id, groupDn, members(Number(range[1]))), searchDone(id, null)]
  if (text.includes('groupOfNames')) {
    const everyone = { objectGUID: [guidOf(1_000)], cn: ['Everyone'], member: [], ...members(0) }
    const silent = { objectGUID: [guidOf(1_001)], cn: ['Silent'] }
    return [entry(id, groupDn, everyone), entry(id, silentDn, silent), searchDone(id)]
  }
  const page = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => user(id, from + index))
  if (text.includes('second')) return [searchDone(id, 'third')]
  if (text.includes('third')) return [...page(10, users), searchDone(id)]
  return [
    ...page(0, 10),
    reference(id, `ldap://ForestDnsZones.corp.example.com/DC=ForestDnsZones,${base}`),
    reference(id, `ldap://DomainDnsZones.corp.example.com/DC=DomainDnsZones,${base}`),
    reference(id, `ldap://corp.example.com/CN=Configuration,${base}`),
    searchDone(id, 'second'),
  ]
}

suite('Active Directory', async () => {
  const server = await openScriptedLdap(answer)
  after(server.stop)
  const config = {
    ...{ host: '127.0.0.1', port: server.port, tls: 'off', base_dn: base },
    ...{ bind_dn: 'sync@corp.example.com', bind_password: 'a password' },
  }

  test('gives everybody by the text of their GUID, after an empty page too', async () => {
    const { people } = await readAll(config)
    assert.deepEqual(
      [...people.keys()],
      Array.from({ length: users }, (_, index) => idOf(index)),
    )
    assert.equal(people.get(idOf(0))?.userName, 'user0@corp.example.com')
  })

  test('must send pages, or say that it cannot', async () => {
    await readAll(config)
    const searches = server.requests.filter(
      ({ operation, text }) => operation === operations.search && !text.includes(';range='),
    )
    // The control is followed by `true`: it is critical.
    assert.ok(searches.length > 0 && searches.every(({ text }) => text.includes('1.2.840.113556.1.4.319\x01\x01\xff')))
  })

  test('says who is disabled', async () => {
    const { people } = await readAll(config)
    assert.deepEqual(
      [...people].filter(([, { active }]) => active !== true).map(([id]) => id),
      [idOf(3)],
    )
  })

  test('gives the members of a large group range by range', async () => {
    const { groups } = await readAll(config)
    assert.deepEqual(
      [...(groups.get('Everyone')?.members ?? [])],
      Array.from({ length: users }, (_, index) => idOf(index)),
    )
    assert.equal(groups.get('Everyone')?.id, idOf(1_000))
    assert.deepEqual([...(groups.get('Silent')?.members ?? [])], [idOf(3)])
  })
})

suite('Active Directory is not read', () => {
  const faults: [string, (request: LdapRequest) => Buffer[], RegExp][] = [
    [
      'where a child domain has a part of it',
      (request) =>
        request.operation === operations.bind
          ? answer(request)
          : [
              user(request.id, 0),
              reference(request.id, `ldap://eu.corp.example.com/DC=eu,${base}`),
              searchDone(request.id),
            ],
      /refers to `ldap:\/\/eu\.corp.*not followed/,
    ],
    [
      'where a range is repeated',
      (request) =>
        request.text.includes('member;range=')
          ? [entry(request.id, groupDn, members(0)), searchDone(request.id, null)]
          : answer(request),
      /did not send all values of `member` of `CN=Everyone/,
    ],
    [
      'where a range is missing',
      (request) =>
        request.text.includes('member;range=')
          ? [entry(request.id, groupDn, {}), searchDone(request.id, null)]
          : answer(request),
      /did not send all values of `member`/,
    ],
    [
      'where a range has fewer values than it says',
      (request) =>
        request.text.includes('member;range=10-')
          ? [entry(request.id, groupDn, { 'member;range=10-19': [userDn(10)] }), searchDone(request.id, null)]
          : answer(request),
      /did not send all values of `member`/,
    ],
    [
      'where two groups have one name but for upper case',
      (request) =>
        request.text.includes('groupOfNames')
          ? [
              entry(request.id, groupDn, { objectGUID: [guidOf(1_000)] }),
              entry(request.id, groupDn.toLowerCase(), { objectGUID: [guidOf(1_001)] }),
              searchDone(request.id),
            ]
          : answer(request),
      /two entries have the DN `cn=everyone/,
    ],
    [
      'by a disabled account',
      ({ id }) => [
        bindResult(id, 49, '80090308: LdapErr: DSID-0C09, comment: AcceptSecurityContext error, data 533, v4563'),
      ],
      /did not accept the sign-in.*the account is disabled; 80090308/,
    ],
  ]
  for (const [what, script, message] of faults) {
    test(what, async () => {
      const server = await openScriptedLdap(script)
      const config = {
        ...{ host: '127.0.0.1', port: server.port, tls: 'off', base_dn: base },
        ...{ bind_dn: 'sync@corp.example.com', bind_password: 'a password' },
      }
      await assert.rejects(readAll(config), { name: 'TargetError', message }).finally(server.stop)
    })
  }
})
