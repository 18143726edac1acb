import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { endExpiredMemberships } from '../../src/groups/claimed-member-store.ts'
import { claimDue } from '../../src/jobs/claim.ts'
import { systemActor } from '../../src/kernel/context.ts'
import { openClaimsStage } from '../support/claims-stage.ts'

/** At each sign-in by the tenant's own provider, the claim gives the groups that are mapped to its values. */
const stage = await openClaimsStage()
const {
  house,
  asOwner,
  must,
  by,
  open,
  makeGroup,
  map,
  enter,
  groupsOf,
  changes,
  lastClaim,
  expire,
  endDue,
  configure,
} = stage

const added = { type: 'group.member_added', cause: 'claim' }
const removed = (cause: string) => ({ type: 'group.member_removed', cause })

suite('a sign-in', () => {
  test('gives the groups of its claim, and their scopes, and takes those that no longer follow (O11)', async () => {
    const provider = await open()
    const [one, two] = [await makeGroup(provider, ['groups:read']), await makeGroup(provider)]
    await map([
      { value: 'eng', group_id: one.group_id },
      { value: 'ops', group_id: two.group_id },
    ])
    const { id, token } = await enter('anna', { groups: ['eng', 'Ops', 'other'] })
    assert.deepEqual(await groupsOf(id), [one.group_id])
    assert.equal((await by(token, 'GET', '/v1/groups')).status, 200)
    assert.deepEqual(await lastClaim(), { claim: 'read', values: 3 })
    assert.equal((await asOwner('GET', `/v1/groups/${one.group_id}`)).body.member_count, 1)

    await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await changes(id), [added], 'a membership that goes on is no event')

    await enter('anna', { groups: 'ops' })
    assert.deepEqual(await groupsOf(id), [two.group_id])
    assert.deepEqual(await changes(id), [added, removed('not_claimed'), added])
    assert.equal((await by(token, 'GET', '/v1/groups')).status, 403, 'of the earlier token too')
  })

  test('takes the claim from the user info, where the identity token has none', async () => {
    const { group_id } = await makeGroup(await open({ groups_claim: 'teams' }))
    await map([{ value: 'eng', group_id }])
    const { id } = await enter('anna', { teams: ['eng'] })
    assert.deepEqual(await groupsOf(id), [group_id])
  })

  test('knows groups by their mapping, and never by their name (O11)', async () => {
    const { group_id } = await makeGroup(await open())
    await map([{ value: 'eng', group_id }])
    const { id } = await enter('anna', { groups: ['Engineers', group_id] })
    assert.deepEqual(await groupsOf(id), [])
    await must(asOwner('PATCH', `/v1/groups/${group_id}`, { name: 'Renamed' }))
    await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await groupsOf(id), [group_id])
  })

  const incomplete: [string, object, string][] = [
    ['missing', {}, 'missing'],
    ['a list of other things', { groups: ['eng', 7] }, 'missing'],
    ['an object', { groups: { eng: true } }, 'missing'],
    ['longer than is read', { groups: Array.from({ length: 1_001 }, () => 'eng') }, 'overflow'],
    ['said to be incomplete', { groups: ['eng'], hasgroups: true }, 'overflow'],
  ]
  for (const [name, claims, is] of incomplete) {
    test(`whose claim is ${name} succeeds, and takes the groups of claims alone (O18)`, async () => {
      const { group_id } = await makeGroup(await open())
      await map([{ value: 'eng', group_id }])
      const { id } = await enter('anna', { groups: ['eng'] })
      const local = String((await must(asOwner('POST', '/v1/groups', { name: 'Local' }))).body.id)
      await must(asOwner('POST', `/v1/groups/${local}/members`, { user_id: id }))
      const synced = await syncedGroup(id)
      await enter('anna', claims)
      assert.deepEqual((await groupsOf(id)).sort(), [local, synced].sort())
      assert.deepEqual((await changes(id)).at(-1), removed(`claim_${is}`))
      assert.deepEqual(await lastClaim(), { claim: is })
    })
  }

  test('changes nothing where the tenant names no claim', async () => {
    await makeGroup(await open({ groups_claim: null }))
    const { id } = await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await groupsOf(id), [])
    assert.equal(await lastClaim(), null)
  })
})

/** A group that a directory manages, with this member. */
async function syncedGroup(user_id: string): Promise<string> {
  const { tenant_id } = stage.tenant()
  const [group] = await house.asSuperuser<{ id: string }>(
    `with made as (insert into tenant_group (tenant_id, id, name, source)
        values ($1, gen_random_uuid(), 'Synced', 'scim') returning id),
      member as (insert into group_member (tenant_id, group_id, user_id, membership_source)
        select $1, id, $2, 'scim' from made)
      select id from made`,
    [tenant_id, user_id],
  )
  return String(group?.id)
}

suite('a membership by a claim', () => {
  test('counts as long as the tenant says after the last sign-in, for tokens and keys alike', async () => {
    const { group_id } = await makeGroup(await open(), ['groups:read', 'api_keys:write'])
    await map([{ value: 'eng', group_id }])
    await must(asOwner('PUT', '/v1/settings/auth.claimed_groups_seconds', { value: '900' }))
    const { id, token } = await enter('anna', { groups: ['eng'] })
    const [row] = await house.asSuperuser<{ left: number }>(
      'select extract(epoch from expires_at - created_at)::float8 as left from group_member where user_id = $1',
      [id],
    )
    assert.ok(Math.abs(Number(row?.left) - 900) < 60)
    const made = await must(by(token, 'POST', '/v1/api-keys', { name: 'k', scopes: ['groups:read'] }))
    const listsGroups = async () => {
      const { tenant_id } = stage.tenant()
      const call = { method: 'GET', url: '/v1/groups', tenant_id }
      const key = await house.call({ ...call, api_key: String(made.body.key) })
      return [key.status, (await house.call({ ...call, token })).status]
    }
    assert.deepEqual(await listsGroups(), [200, 200])
    await expire(id)
    assert.deepEqual(await listsGroups(), [403, 403])
    assert.deepEqual(await groupsOf(id), [])
    const shown = await Promise.all([
      asOwner('GET', `/v1/groups/${group_id}`),
      asOwner('GET', `/v1/groups/${group_id}/members`),
      asOwner('GET', `/v1/users?group=${group_id}`),
    ])
    assert.deepEqual(
      shown.map(({ body }) => body.member_count ?? body.data),
      [0, [], []],
    )
    await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await listsGroups(), [200, 200])
    assert.deepEqual(await changes(id), [added, removed('expired'), added])
  })

  test('that has expired is deleted, with its event, by the job', async () => {
    const { group_id } = await makeGroup(await open())
    await map([{ value: 'eng', group_id }])
    const { id } = await enter('anna', { groups: ['eng'] })
    const { tenant_id } = stage.tenant()
    await expire(id)
    const work = async () => {
      await house.asSuperuser('update claimed_groups set next_look_at = clock_timestamp() where id = $1', [id])
      const request = { table: 'claimed_groups', part: undefined, max: 10, maxPerTenant: 10, without: [] } as const
      const [claim] = await claimDue(house.database, [request])
      const item = claim?.items.find((one) => one.id === id) ?? assert.fail('it is due')
      const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
      return (generation = item.generation) => endExpiredMemberships(ctx, { ...item, generation })
    }
    const run = await work()
    await run('0')
    assert.deepEqual(await changes(id), [added], 'a worker without the lease does nothing')
    await run()
    assert.deepEqual(await changes(id), [added, removed('expired')])
    const rows = () => house.asSuperuser('select from claimed_groups where id = $1', [id])
    assert.equal((await rows()).length, 0)

    await enter('anna', { groups: ['eng'] })
    await (await work())()
    assert.deepEqual((await changes(id)).at(-1), added, 'one that counts stays')
    const [next] = await house.asSuperuser<{ same: boolean; lease_until: string | null }>(
      `select c.next_look_at = m.expires_at as same, c.lease_until from claimed_groups c
        join group_member m on m.user_id = c.id where c.id = $1`,
      [id],
    )
    assert.deepEqual(next, { same: true, lease_until: null })
  })

  const ends: [string, object][] = [
    ['another claim', { groups_claim: 'teams' }],
    ['no claim', { groups_claim: null }],
  ]
  for (const [name, change] of ends) {
    test(`ends when the tenant names ${name}`, async () => {
      const { group_id } = await makeGroup(await open())
      await map([{ value: 'eng', group_id }])
      const { id } = await enter('anna', { groups: ['eng'] })
      await configure(change)
      assert.deepEqual(await groupsOf(id), [], 'at once')
      await endDue()
      assert.deepEqual((await changes(id)).at(-1), removed('provider_changed'))
    })
  }

  test('stays in a change that names neither the claim nor mappings', async () => {
    const { group_id } = await makeGroup(await open())
    await map([{ value: 'eng', group_id }])
    const { id } = await enter('anna', { groups: ['eng'] })
    const { body } = await configure({ scopes: ['openid', 'email'] })
    assert.equal(body.groups_claim, 'groups')
    assert.deepEqual(body.group_mappings, [{ value: 'eng', group_id, in_effect: true }])
    assert.deepEqual(await groupsOf(id), [group_id])
  })
})
