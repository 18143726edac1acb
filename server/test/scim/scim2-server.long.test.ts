import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scimSource } from '../../src/identity-providers/sources/scim-source.ts'
import { enterpriseSchema, userKind } from '../../src/scim/attribute.ts'
import { readResource } from '../../src/scim/read-resource.ts'
import { directoryOf } from '../support/directory-of.ts'
import { egress, idsOf, isFault } from '../support/scim-reading.ts'
import { startScim2Server } from '../support/scim2-server.ts'
import { skipScim2Tester } from '../support/scim2-tester.ts'

const token = 'a-token-of-scim2-server'
const skip = skipScim2Tester

test('scim2-server, which this project did not write, is read as it is', { skip }, async () => {
  const server = await startScim2Server(token)
  const read = scimSource.open({ base_url: server.base_url, token, page_size: 20 }, egress)
  assert.deepEqual(await directoryOf(read), { people: [], groups: [], pages: 3, error: undefined })

  const boss = await server.user({ userName: 'boss@x.example' })
  const fields = {
    userName: 'ada@x.example',
    name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace' },
    displayName: 'Ada',
    title: 'Engineer',
    active: false,
    emails: [
      { value: 'ada@home.example', type: 'home' },
      { value: 'ada@x.example', type: 'work', primary: true },
    ],
    [enterpriseSchema]: { department: 'Engines', manager: { value: boss.id } },
  }
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User', enterpriseSchema]
  const ada = await server.user({ schemas, externalId: 'E1', password: 'Correct-horse-9', ...fields })
  const others: string[] = []
  for (let count = 0; count < 103; count += 1) others.push((await server.user({ userName: `user-${count}` })).id)
  const team = await server.group('Team', [
    { value: ada.id, type: 'User' },
    { value: boss.id, type: 'User' },
  ])
  const all = await server.group('All', [
    { value: team.id, type: 'Group' },
    ...others.map((value) => ({ value, type: 'User' })),
  ])
  const nobody = await server.group('Nobody', [])

  const found = await directoryOf(read)
  assert.equal(found.error, undefined)
  const everyone = [boss.id, ada.id, ...others].sort()
  assert.deepEqual(idsOf(found.people), everyone, 'in the order of ids, since it sorts')
  const person = found.people.find(({ id }) => id === ada.id)
  assert.deepEqual(readResource(userKind, person?.resource), fields)
  const members = new Map(
    found.groups.map(({ id, name, member_ids }) => [id, { name, members: [...member_ids].sort() }]),
  )
  assert.deepEqual(members.get(team.id), { name: 'Team', members: [ada.id, boss.id].sort() })
  assert.deepEqual(members.get(all.id), { name: 'All', members: everyone })
  assert.deepEqual(members.get(nobody.id), { name: 'Nobody', members: [] })

  const pages = read({ groups: false }, new AbortController().signal)
  const seen = new Set<string>()
  const leaves = everyone[3] ?? ''
  for await (const { people = [] } of pages) {
    for (const { id } of people) seen.add(id)
    if (seen.size !== 20) continue
    await server.call('DELETE', `/Users/${leaves}`)
  }
  assert.deepEqual([...seen].sort(), everyone, 'somebody leaves while it is read, and nobody else is missed')
  assert.deepEqual(
    idsOf((await directoryOf(read)).people),
    everyone.filter((id) => id !== leaves),
  )

  const wrong = scimSource.open({ base_url: server.base_url, token: 'another' }, egress)
  isFault((await directoryOf(wrong)).error, 'permanent', /answered 401 to `\/Users`: it does not take `token`/)
  const elsewhere = scimSource.open({ base_url: `${server.base_url}/elsewhere`, token }, egress)
  isFault((await directoryOf(elsewhere)).error, 'permanent', /answered 404 to `\/Users`: check `base_url`/)
})
