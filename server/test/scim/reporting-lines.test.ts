import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { enterpriseSchema } from '../../src/scim/attribute.ts'
import { reportsFollow } from '../../src/scim/users/reporting-line-store.ts'
import { outline, readingOf } from '../support/rows-read.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** Managers, whom users name by an external id, in any order. */
const { house, acme, directory, makeDirectory } = await openScimStage()
const { tenant_id, owner } = acme

const asOwner = (url: string) => house.call({ method: 'GET', url, api_key: owner.api_key, tenant_id })
const managerOf = async (id: string) => (await asOwner(`/v1/users/${id}`)).body.manager_id ?? null
const boss = (externalId: string) => directory.user({ userName: `${externalId}@example.com`, externalId })
const report = (of: string) =>
  directory.user({ userName: `${newId()}@example.com`, [enterpriseSchema]: { manager: { value: of } } })
const factEvents = async (id: string) =>
  ((await asOwner(`/v1/audit-events?subject=${id}&type=user.updated`)).body.data as { data: object }[]).map(
    ({ data }) => data,
  )

suite('a manager', () => {
  test('who comes after their reports is their manager from then on, and the audit log says so', async () => {
    const { id } = await report('late')
    assert.equal(await managerOf(id), null)
    const manager = await boss('late')
    assert.equal(await managerOf(id), manager.id)
    const events = [{ fields: ['manager_id'], identity_provider_id: directory.id }]
    assert.deepEqual(await factEvents(id), events)
    await directory.call('PATCH', `/Users/${manager.id}`, { Operations: [{ op: 'add', path: 'title', value: 'x' }] })
    assert.deepEqual(await factEvents(id), events)
  })

  test('who comes at the same moment as their reports is the manager of all of them', async () => {
    const lost: string[] = []
    for (let times = 0; times < 15; times += 1) {
      const name = `same moment ${times}`.replaceAll(' ', '-')
      const [first, manager, ...others] = await Promise.all([report(name), boss(name), report(name), report(name)])
      for (const { id } of [first, ...others]) if ((await managerOf(id)) !== manager.id) lost.push(name)
    }
    assert.deepEqual(lost, [])
  })

  test('who gets the name at the same moment as a user names them is their manager', async () => {
    const lost: string[] = []
    for (let times = 0; times < 15; times += 1) {
      const [manager, { id }] = [await boss(`before-${times}`), await report('nobody')]
      const patch = (whose: string, path: string) =>
        directory.call('PATCH', `/Users/${whose}`, { Operations: [{ op: 'replace', path, value: `after-${times}` }] })
      const manages = `${enterpriseSchema}:manager`
      const replies = await Promise.all([patch(id, manages), patch(manager.id, 'externalId')])
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200],
        replies.map(({ text }) => text).join(),
      )
      if ((await managerOf(id)) !== manager.id) lost.push(`after-${times}`)
    }
    assert.deepEqual(lost, [])
  })

  test('may name their own report as theirs at the same moment', async () => {
    for (let times = 0; times < 15; times += 1) {
      const [one, other] = [`one-${times}`, `other-${times}`]
      const user = (externalId: string, value: string) =>
        directory.user({
          ...{ userName: `${externalId}@example.com`, externalId, [enterpriseSchema]: { manager: { value } } },
        })
      const [first, second] = await Promise.all([user(one, other), user(other, one)])
      assert.deepEqual([await managerOf(first.id), await managerOf(second.id)], [second.id, first.id])
    }
  })
})

test('whose reports follow them is found without reading other users', async () => {
  const { id: identity_provider_id } = await makeDirectory()
  const manager = newId()
  await house.asSuperuser(
    `with u as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        select $1, id, id || '@many.example', id || '@many.example', 'One of many', 'oidc'
        from (select $3::uuid as id union all select gen_random_uuid() from generate_series(1, 3000)) ids returning *)
      insert into directory_user (tenant_id, user_id, identity_provider_id, external_id, user_name_key, resource,
        manager_key)
      select tenant_id, id, $2, case when id = $3 then 'boss' end, email_key, '{}',
        case when row_number() over () % 100 = 0 then 'boss' else 'other' end from u`,
    [tenant_id, identity_provider_id, manager],
  )
  await house.asSuperuser('analyze tenant_user')
  await house.asSuperuser('analyze directory_user')
  const actor = { kind: 'api_key', user_id: owner.user_id, api_key_id: null, scopes: new Set<string>() } as const
  const tx = house.database.tenant(tenant_id)
  const ctx = { tx, actor, request_id: 'test', identity_provider_id, author: owner.user_id }
  for (const generic of [true, false]) {
    const { rows, plan } = await readingOf(house, tenant_id, reportsFollow(ctx, manager, 'boss'), generic)
    assert.ok(rows < 300, outline(plan))
  }
})
