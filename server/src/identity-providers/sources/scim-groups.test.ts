import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openScimPeer } from '../../../test/support/scim-peer.ts'
import { egress, idsOf, isFault, reading, serving, token, users } from '../../../test/support/scim-reading.ts'
import { scimSource, scimSourceWithin } from './scim-source.ts'

suite('the groups of a SCIM server', () => {
  const people = users(1, 4)
  const membersOf = async (groups: readonly { id: string; [name: string]: unknown }[], source = scimSource) => {
    const { groups: found, error } = await reading(serving({ users: people, groups }), {}, source)
    return { members: Object.fromEntries(found.map(({ id, member_ids }) => [id, [...member_ids].sort()])), error }
  }

  test('have the people of groups in them, also where groups contain each other', async () => {
    const { members, error } = await membersOf([
      {
        id: 'all',
        members: [
          { value: 'u1', type: 'User' },
          { value: 'inner', type: 'Group' },
        ],
      },
      {
        id: 'inner',
        members: [
          { value: 'u2', $ref: '../Users/u2' },
          { value: 'deep', $ref: 'https://x/v2/Groups/deep' },
        ],
      },
      { id: 'deep', members: [{ value: 'u3' }, { value: 'all' }, 'u4', { value: 'deep' }] },
    ])
    assert.equal(error, undefined)
    const everyone = idsOf(people)
    assert.deepEqual(members, { all: everyone, inner: everyone, deep: everyone })
  })

  test('have nobody who is not among the people, nor members without a value', async () => {
    const { members } = await membersOf([
      { id: 'g1', members: [{ value: 'u9' }, { value: 'device-1', type: 'Device' }, {}, null, { value: 'u1' }, 7] },
      { id: 'g2' },
      { id: 'g3', members: null },
      { id: 'g4', members: { value: 'u2' } },
      { id: 'u3', members: [{ value: 'u1' }] },
      { id: 'g5', members: [{ value: 'u3' }] },
      { id: 'g6', members: [{ value: 'u3', type: 'Group' }] },
    ])
    assert.deepEqual(members, { g1: ['u1'], g2: [], g3: [], g4: ['u2'], g5: ['u3'], g6: ['u1'], u3: ['u1'] })
  })

  test('are named as the server does, or by their ids', async () => {
    const { groups } = await reading(
      serving({
        groups: [
          { id: 'g1', displayName: 'Developers' },
          { id: 'g2', displayName: '' },
          { id: 'g3', displayName: 7 },
        ],
      }),
    )
    assert.deepEqual(
      groups.map(({ name }) => name),
      ['Developers', 'g2', 'g3'],
    )
  })

  test('come in small pages, however many members they have', async () => {
    const many = users(1, 2_500)
    const members = many.map(({ id }) => ({ value: id }))
    const groups = [
      { id: 'all', members },
      ...Array.from({ length: 250 }, (_, place) => ({ id: `g${place}`, members: [] })),
    ]
    const peer = await openScimPeer(serving({ users: many, groups }))
    const read = scimSource.open({ base_url: peer.base_url, token, page_size: 1_000 }, egress)
    const sizes: [number, number][] = []
    for await (const { groups: page = [] } of read({ groups: true }, new AbortController().signal))
      if (page.length > 0) sizes.push([page.length, page.flatMap(({ member_ids }) => member_ids).length])
    assert.deepEqual(sizes, [
      [1, 1_000],
      [1, 1_000],
      [100, 500],
      [100, 0],
      [51, 0],
    ])
  })

  test('are not read where they have more members than are kept', async () => {
    const two = scimSourceWithin({ maxMemberships: 7 })
    const chain = [1, 2, 3].map((place) => ({
      id: `g${place}`,
      members: [{ value: `u${place}` }, { value: `g${place + 1}` }],
    }))
    assert.equal((await membersOf(chain.slice(0, 2), two)).error, undefined)
    isFault((await membersOf(chain, two)).error, 'permanent', /the groups have more than 7 memberships in all/)
    const flat = [{ id: 'g1', members: Array.from({ length: 8 }, () => ({ value: 'u1' })) }]
    isFault((await membersOf(flat, two)).error, 'permanent', /more than 7 memberships/)
  })
})
