import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import { openClaimsStage } from '../support/claims-stage.ts'
import type { Reply } from '../support/house.ts'
import { locksAreWaitedFor } from '../support/lock.ts'
import { anna } from '../support/sign-in-stage.ts'

/** Sign-ins whose claims give groups, at the same moment as changes by which they no longer do. No membership is left. */
const { house, tenant, asOwner, must, open, makeGroup, map, walk, finish, someone, by } = await openClaimsStage()

type Stage = { group_id: string; role: string; provider: string }

/** Ways to end what the mapping gives, by a call. */
const ends: [string, (stage: Stage) => Promise<() => Promise<Reply>>][] = [
  ['the mapping is removed', async () => () => map([])],
  [
    'the group is deleted',
    async ({ group_id }) =>
      () =>
        asOwner('DELETE', `/v1/groups/${group_id}`),
  ],
  [
    'the group comes to give more than was vouched for',
    async ({ role }) => {
      const { token } = await someone(['roles:write', 'groups:read', 'users:read'])
      return () => by(token, 'PATCH', `/v1/roles/${role}`, { scopes: ['groups:read', 'users:read'] })
    },
  ],
]
/** The memberships that count. The job deletes the others. */
const left = () =>
  house.asSuperuser('select from group_member where tenant_id = $1 and expires_at > clock_timestamp()', [
    tenant().tenant_id,
  ])

for (const [name, prepare] of ends) {
  test(`a sign-in that waits, while ${name}, leaves no membership (P31)`, async () => {
    const provider = await open()
    const { group_id, role } = await makeGroup(provider, ['groups:read'])
    await map([{ value: 'eng', group_id }])
    const end = await prepare({ group_id, role, provider })
    // The user is known: only the session is begun, and the groups given.
    await must(finish(await walk('anna', { ...anna, groups: [] })))
    const answer = await walk('anna', { ...anna, groups: ['eng'] })
    const beside = openDatabase(house.service, { writes: 1, long: 1 })
    const calls: Promise<Reply>[] = []
    await beside.tenant(tenant().tenant_id).interactive(async (inside) => {
      // Both wait for the provider: in which order they go on does not matter.
      await inside.write([sql`select from sign_in_setting where tenant_id = ${tenant().tenant_id} for update`])
      calls.push(finish(answer))
      await locksAreWaitedFor(house, 1)
      calls.push(end())
      await locksAreWaitedFor(house, 2)
    })
    const [signedIn, ended] = (await Promise.all(calls)).map(({ status }) => status)
    assert.ok(ended === 200 || ended === 204)
    assert.ok(signedIn === 200 || signedIn === 401)
    assert.deepEqual(await left(), [])
    await beside.close()
  })

  test(`sign-ins all the while ${name} leave no membership (P31)`, async () => {
    const provider = await open()
    const { group_id, role } = await makeGroup(provider, ['groups:read'])
    await map([{ value: 'eng', group_id }])
    const end = await prepare({ group_id, role, provider })
    const names = ['anna', 'ben', 'carl', 'dora', 'emil', 'fay']
    const claims = (account: string) => ({ ...anna, email: `${account}@example.com`, groups: ['eng'] })
    const answers: Parameters<typeof finish>[0][] = []
    for (const account of names) answers.push(await walk(account, claims(account)))
    const replies = await Promise.all([
      ...answers.slice(0, 3).map((one) => finish(one)),
      end(),
      ...answers.slice(3).map((one) => finish(one)),
    ])
    assert.ok(replies.every(({ status }) => [200, 204, 401].includes(status)))
    assert.deepEqual(await left(), [])
  })
}
