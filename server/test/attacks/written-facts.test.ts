import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse, type Person } from '../support/house.ts'
import { possibleDeciders } from '../support/possible-deciders.ts'
import { requestStage } from '../support/request-stage.ts'
import { callScim } from '../support/scim-stage.ts'

/**
 * What a requester, or whom they made an administrator, writes about people after the request does not count for deciding it: the value
 * from before does, so that it neither meets a permit nor lifts a forbid.
 */
const house = await openHouse()
const on = await requestStage(house, 'written facts')
const { tenant_id, owner, people, call } = on
const [requester, approver, accomplice] = [people.admin, people.approver, people.user]
const boss = people.auditor
const tx = house.database.tenant(tenant_id)

const done = async (by: Person, method: string, url: string, body?: unknown) => {
  const reply = await call(by, method, url, body)
  assert.ok(reply.status < 300, reply.text)
  return reply.body
}
const { data } = await done(owner, 'GET', '/v1/policies')
for (const { id, name } of data as { id: string; name: string }[])
  if (name !== 'written facts') await done(owner, 'DELETE', `/v1/policies/${id}`)
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')

type Facts = { department?: string | null; title?: string | null; manager_id?: string | null }
const write = (by: Person, about: Person, facts: Facts) => done(by, 'PATCH', `/v1/users/${about.user_id}`, facts)
const ask = () => on.ask(on.account('600000000001'), requester)
const setRoles = (by: Person, about: Person, roles: string[]) =>
  done(by, 'PUT', `/v1/users/${about.user_id}/roles`, { roles })

/** Whether the person may decide: the same for the decision, the inbox, and the list of possible approvers. */
async function mayDecide(id: string, person = approver): Promise<boolean> {
  const inbox = await done(person, 'GET', '/v1/requests?decidable_by=me')
  const isListed = (inbox.data as { id: string }[]).some((one) => one.id === id)
  const possible = (await possibleDeciders(tx, id)).includes(person.user_id)
  const { status, text } = await call(person, 'POST', `/v1/requests/${id}/approve`, {})
  assert.ok(status === 200 || status === 403, text)
  assert.deepEqual([isListed, possible], [status === 200, status === 200], text)
  return status === 200
}

let rules: (() => Promise<void>)[] = []
beforeEach(async () => {
  for (const remove of rules) await remove()
  rules = []
  await setRoles(owner, accomplice, ['user'])
  await setRoles(owner, boss, ['approver'])
  for (const person of [requester, approver, boss]) {
    await write(owner, person, { department: null, title: null, manager_id: null })
  }
})
const rule = async (effect: string, condition: string) =>
  rules.push(await on.rule(`${effect} (principal, action == Action::"approve", resource) ${condition};`))
const is = (title: string) => `principal has title && principal.title == "${title}"`
const theManager = 'resource.requester has manager && resource.requester.manager == principal'

suite('a title that the requester writes', () => {
  test('permits nothing after the request, and counts for the next one', async () => {
    await rule('permit', `when { ${is('Director')} }`)
    const id = await ask()
    await write(requester, approver, { title: 'Director' })
    assert.equal(await mayDecide(id), false)
    assert.equal(await mayDecide(await ask()), true)
  })

  test('lifts no forbid about the title from before, be it removed, changed or written again', async () => {
    await rule('permit', '')
    await rule('forbid', `when { ${is('Contractor')} }`)
    for (const titles of [[null], ['Director'], [null, 'Contractor']]) {
      await write(owner, approver, { title: 'Contractor' })
      const id = await ask()
      for (const title of titles) await write(requester, approver, { title })
      assert.equal(await mayDecide(id), false, titles.join())
      await write(owner, approver, { title: 'Lead' })
      assert.equal(await mayDecide(id), true, 'the owner says otherwise')
    }
  })

  test('lifts no forbid about those without one', async () => {
    await rule('permit', '')
    await rule('forbid', 'unless { principal has title }')
    const id = await ask()
    await write(requester, approver, { title: 'Director' })
    assert.equal(await mayDecide(id), false)
  })

  test('meets a forbid about those with one: it is not as if it were never written', async () => {
    await rule('permit', '')
    await rule('forbid', 'when { principal has title }')
    const id = await ask()
    await write(requester, approver, { title: 'Director' })
    assert.equal(await mayDecide(id), false)
  })

  test('is not vouched for by somebody who writes another fact', async () => {
    await rule('permit', `when { ${is('Director')} }`)
    const id = await ask()
    await write(requester, approver, { title: 'Director' })
    await write(owner, approver, { department: 'Finance' })
    assert.equal(await mayDecide(id), false)
  })

  test('gives way to what others wrote before and after', async () => {
    await rule('permit', `when { ${is('Director')} || ${is('Lead')} }`)
    await rule('forbid', `when { ${is('Contractor')} }`)
    const id = await ask()
    await write(requester, approver, { title: 'Contractor' })
    await write(owner, approver, { title: 'Director' })
    await write(requester, approver, { title: 'Lead' })
    assert.equal(await mayDecide(id), true, 'a director by the owner’s word, and a lead by both')
  })

  test('gives way to the word of the directory', async () => {
    await rule('permit', `when { ${is('Director')} }`)
    const id = await ask()
    await write(requester, approver, { title: 'Lead' })
    const said = 'update tenant_user set title = $2, facts_set_by = null where id = $1'
    await house.asSuperuser(said, [approver.user_id, 'Director'])
    assert.equal(await mayDecide(id), true)
    const kept = await house.asSuperuser('select from user_fact_version where user_id = $1 and fact = $2', [
      approver.user_id,
      'title',
    ])
    assert.equal(kept.length, 0)
  })

  test('and a group to which they add somebody again meet one forbid about both', async () => {
    const group = String((await done(owner, 'POST', '/v1/groups', { name: 'visitors' })).id)
    const members = `/v1/groups/${group}/members`
    await done(owner, 'POST', members, { user_id: approver.user_id })
    await write(owner, approver, { title: 'Contractor' })
    await rule('permit', '')
    await rule('forbid', `when { principal in Group::"${group}" && ${is('Contractor')} }`)
    const id = await ask()
    await done(requester, 'DELETE', `${members}/${approver.user_id}`)
    await done(requester, 'POST', members, { user_id: approver.user_id })
    await write(requester, approver, { title: 'Director' })
    assert.equal(await mayDecide(id), false)
  })
})

suite('the manager of a requester', () => {
  test('is not whom an accomplice names after the request, be the accomplice disarmed or not', async () => {
    for (const isDisarmed of [false, true]) {
      await write(owner, requester, { manager_id: boss.user_id })
      await rule('permit', `when { ${theManager} }`)
      const id = await ask()
      await setRoles(requester, accomplice, ['admin'])
      await write(accomplice, requester, { manager_id: approver.user_id })
      if (isDisarmed) await setRoles(requester, accomplice, ['user'])
      assert.equal(await mayDecide(id, approver), false)
      assert.equal(await mayDecide(id, boss), false, 'whose permit the present facts do not meet')
      await write(owner, requester, { manager_id: boss.user_id })
      assert.equal(await mayDecide(id, boss), true)
    }
  })

  test('is whom somebody else names after the request', async () => {
    await rule('permit', `when { ${theManager} }`)
    const id = await ask()
    await write(owner, requester, { manager_id: approver.user_id })
    assert.equal(await mayDecide(id, boss), false)
    assert.equal(await mayDecide(id, approver), true)
  })

  test('is still the manager for a request from before they were deleted', async () => {
    const { id: user_id } = await done(owner, 'POST', '/v1/users', {
      ...{ email: `${crypto.randomUUID()}@example.com`, name: 'Gone', roles: ['user'], auth_provider: 'oidc' },
    })
    await write(owner, requester, { manager_id: String(user_id) })
    await rule('permit', 'unless { resource.requester has manager }')
    const id = await ask()
    await done(requester, 'DELETE', `/v1/users/${user_id}`)
    assert.equal(await mayDecide(id), false)
    assert.equal(await mayDecide(await ask()), true)
  })
})

test('what the key of a requester says of a new user of its directory does not count (directories)', async () => {
  await rule('permit', `when { ${is('Director')} }`)
  const provider = { name: 'Directory', provider_type: 'custom_scim' }
  const id = String((await done(requester, 'POST', '/v1/identity-providers', provider)).id)
  const { key } = await done(requester, 'POST', '/v1/api-keys', { name: 'scim', identity_provider_id: id })
  const request = await ask()
  const body = { userName: 'new@example.com', title: 'Director' }
  const made = await callScim(house, { id, key: String(key) }, { method: 'POST', path: '/Users', body })
  assert.equal(made.status, 201, made.text)
  const newcomer = await house.person(tenant_id, String(made.body.id))
  await setRoles(owner, newcomer, ['approver'])
  assert.equal(await mayDecide(request, newcomer), false)
  assert.equal(await mayDecide(await ask(), newcomer), true)
})
