import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { scimSource } from '../../src/identity-providers/sources/scim-source.ts'
import { enterpriseSchema, userKind } from '../../src/scim/attribute.ts'
import { readResource } from '../../src/scim/read-resource.ts'
import { directoryOf } from '../support/directory-of.ts'
import { egress, idsOf, isFault } from '../support/scim-reading.ts'
import { openScimStage } from '../support/scim-stage.ts'

const { house, directory, makeDirectory } = await openScimStage()
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })
const base_url = `${address}/scim/v2/${directory.id}`
const read = scimSource.open({ base_url, token: directory.key, page_size: 10 }, egress)

suite('a directory of the service itself, read by its own client', () => {
  const ids: string[] = []
  const person = {
    userName: 'ada@x.example',
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    title: 'Engineer',
    active: true,
    emails: [
      { value: 'a@x.example', type: 'home' },
      { value: 'b@x.example', type: 'work', primary: true },
    ],
  }
  let groups: string[] = []
  let manager = ''

  before(async () => {
    for (let count = 0; count < 34; count += 1)
      ids.push((await directory.user({ userName: `user-${count}@x.example`, externalId: `E${count}` })).id)
    manager = ids[0] ?? ''
    const extension = { department: 'Engines', manager: { value: manager } }
    ids.push((await directory.user({ ...person, [enterpriseSchema]: extension })).id)
    groups = [(await directory.group('All', ids)).id, (await directory.group('Nobody')).id]
    await (await makeDirectory()).user({ userName: 'other@x.example' })
  })

  test('has everyone once, as they were pushed, and every group with its members', async () => {
    const { people, groups: found, error } = await directoryOf(read)
    assert.equal(error, undefined)
    assert.deepEqual(idsOf(people).sort(), [...ids].sort())
    const { [enterpriseSchema]: extension, ...rest } = readResource(
      userKind,
      people.find(({ id }) => id === ids.at(-1))?.resource,
    )
    assert.deepEqual(rest, person)
    const { department, manager: named } = extension as { department: string; manager: { value: string } }
    assert.deepEqual([department, named.value], ['Engines', manager])
    const members = new Map(found.map(({ id, name, member_ids }) => [id, [name, [...member_ids].sort()]]))
    assert.deepEqual(members.get(groups[0] ?? ''), ['All', [...ids].sort()])
    assert.deepEqual(members.get(groups[1] ?? ''), ['Nobody', []])
  })

  test('is the same at each reading', async () => {
    assert.deepEqual(await directoryOf(read), await directoryOf(read))
  })

  test('misses nobody where somebody leaves meanwhile', async () => {
    const inOrder = idsOf((await directoryOf(read, { groups: false })).people)
    const [leaves = '', ...stay] = inOrder
    const seen = new Set<string>()
    for await (const { people = [] } of read({ groups: false }, new AbortController().signal)) {
      for (const { id } of people) seen.add(id)
      if (seen.size === 10) assert.equal((await directory.call('DELETE', `/Users/${leaves}`)).status, 204)
    }
    assert.deepEqual(
      stay.filter((id) => !seen.has(id)),
      [],
    )
  })

  test('is not read with a wrong key, nor at another address', async () => {
    const wrong = scimSource.open({ base_url, token: `${directory.key}x` }, egress)
    isFault((await directoryOf(wrong)).error, 'permanent', /answered 401 to `\/Users`: it does not take `token`/)
    const elsewhere = scimSource.open({ base_url: address, token: directory.key }, egress)
    const { error } = await directoryOf(elsewhere)
    isFault(error, 'permanent', /check `base_url`/)
  })
})
