import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { notifyAll } from '../../test/support/notify-all.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

/** Who was invited and has not joined cannot sign in, so they are not among those who can decide. */
const house = await openHouse({ PUBLIC_URL: 'https://sallyport.example.com' })
const on = await requestStage(house, 'invited approvers')
const { owner, people } = on
await on.rule('permit (principal, action == Action::"ReadOnly", resource);')
const body = on.account('610000000001')

/** The people who may decide without an invitation. */
const always = ['admin', 'approver', 'Owner']

type Invited = { id: string; user_id: string; name: string; key: string }

function invitedBy(made: Record<string, unknown>): Invited {
  const [, key = ''] = String(made.url).split('#k=')
  return { id: String(made.id), user_id: String(made.user_id), name: String(made.name), key }
}

const invite = async (name: string): Promise<Invited> =>
  invitedBy(await on.created(owner, '/v1/invitations', { email: `${newId()}@example.com`, name, roles: ['approver'] }))

async function join({ key }: Invited): Promise<void> {
  const use = { key, password: 'four random words here' }
  const reply = await house.call({ method: 'POST', url: '/v1/auth/invitation', body: use })
  assert.equal(reply.status, 200, reply.text)
}

const namesIn = (deciders: unknown) => (deciders as { names: string[] }).names

/** The names that a preview gives, which equal those of a request that waits. */
async function named(waiting: string): Promise<string[]> {
  const preview = await on.call(people.user, 'POST', '/v1/requests/preview', body)
  const { body: deciders } = await on.call(people.user, 'GET', `/v1/requests/${waiting}/deciders`)
  assert.deepEqual(namesIn(preview.body.may_decide), namesIn(deciders))
  return namesIn(deciders)
}

async function notified(request_id: string, user_id: string): Promise<boolean> {
  await notifyAll(house)
  const rows = await house.asSuperuser('select from notification where resource_id = $1 and user_id = $2', [
    request_id,
    user_id,
  ])
  return rows.length > 0
}

suite('a person who was invited to approve requests', () => {
  test('is named and notified only once they have joined', async () => {
    const ben = await invite('Ben')
    const before = await on.ask(body)
    assert.deepEqual(await named(before), always)
    assert.equal(await notified(before, ben.user_id), false)
    assert.equal(await notified(before, people.approver.user_id), true)

    await join(ben)
    assert.deepEqual(
      await named(before),
      [...always, 'Ben'].toSorted((one, other) => one.localeCompare(other)),
    )
    const after = await on.ask(body)
    assert.equal(await notified(after, ben.user_id), true)
    await house.asSuperuser('update tenant_user set active = false where id = $1', [ben.user_id])
  })

  test('is not named after their invitation was withdrawn or ran out, and is after they used another', async () => {
    const [withdrawn, late] = [await invite('Cleo'), await invite('Dora')]
    const revoked = await on.call(owner, 'DELETE', `/v1/users/${withdrawn.user_id}/invitations/${withdrawn.id}`)
    assert.equal(revoked.status, 204, revoked.text)
    await house.asSuperuser('update invitation set expires_at = clock_timestamp() where id = $1', [late.id])
    const waiting = await on.ask(body)
    assert.deepEqual(await named(waiting), always)

    await join(invitedBy(await on.created(owner, `/v1/users/${late.user_id}/invitations`, {})))
    assert.deepEqual(await named(waiting), ['admin', 'approver', 'Dora', 'Owner'])
    await house.asSuperuser('update tenant_user set active = false where id = $1', [late.user_id])
  })

  test('is named after they signed in without using the invitation', async () => {
    const emil = await invite('Emil')
    const waiting = await on.ask(body)
    assert.deepEqual(await named(waiting), always)
    await house.asSuperuser(
      `update tenant_user set auth_provider = 'oidc', issuer = 'https://idp.example.com', subject = 'emil'
        where id = $1`,
      [emil.user_id],
    )
    assert.deepEqual(await named(waiting), ['admin', 'approver', 'Emil', 'Owner'])
    await house.asSuperuser('update tenant_user set active = false where id = $1', [emil.user_id])
  })

  test('stays named where nobody invited them, although they have never signed in', async () => {
    const url = '/v1/users'
    const user = { email: `${newId()}@example.com`, name: 'Finn', roles: ['approver'], auth_provider: 'oidc' }
    const { id } = await on.created(owner, url, user)
    assert.deepEqual(await named(await on.ask(body)), ['admin', 'approver', 'Finn', 'Owner'])
    await house.asSuperuser('update tenant_user set active = false where id = $1', [id])
  })

  test('is named in the warning where they would be the only one', async () => {
    const lone = await requestStage(house, 'one owner')
    await lone.rule('permit (principal, action == Action::"ReadOnly", resource);')
    await house.asSuperuser('update tenant_user set active = false where id = any($1::uuid[])', [
      [lone.people.admin.user_id, lone.people.approver.user_id],
    ])
    const warningsOf = async () => {
      const preview = await lone.call(lone.owner, 'POST', '/v1/requests/preview', body)
      const request = await lone.created(lone.owner, '/v1/requests', body)
      assert.deepEqual(preview.body.warnings, request.warnings)
      return request.warnings as { code: string; message: string }[] | undefined
    }
    const [plain] = (await warningsOf()) ?? []
    assert.match(plain?.message ?? '', /^by the current rules and roles no user may approve/)

    const invitation = { email: `${newId()}@example.com`, name: 'Gil', roles: ['approver'] }
    const gil = invitedBy(await lone.created(lone.owner, '/v1/invitations', invitation))
    const [waits] = (await warningsOf()) ?? []
    assert.equal(waits?.code, 'nobody_may_approve')
    assert.match(waits?.message ?? '', /an approver who was invited has not joined/)

    await join(gil)
    assert.equal(await warningsOf(), undefined)
  })
})
