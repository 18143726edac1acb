import assert from 'node:assert/strict'
import { beforeEach, suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { possibleDeciders } from '../../test/support/possible-deciders.ts'
import { replayStage, resultOf } from '../../test/support/replay-stage.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** What policy sees of an address, wherever a user's facts are read from the database. */
const house = await openHouse()
const { replayed } = replayStage(house)

let on: Awaited<ReturnType<typeof requestStage>>
beforeEach(async () => {
  on = await requestStage(house, 'verified addresses')
})

const verify = (person: Person, is: boolean) =>
  house.asSuperuser('update tenant_user set email_verified = $2 where id = $1', [person.user_id, is])
const permit = 'permit (principal, action, resource) when { principal.email like "*@*" && principal.email_verified };'
const deciding = (condition: string) =>
  `forbid (principal, action == Action::"approve", resource) unless { ${condition} };`

suite('a rule that wants a verified address', () => {
  test('permits a request and its preview by a user whose provider verified it', async () => {
    await on.rule(permit)
    await verify(on.people.user, true)
    await on.ask(on.account('600000000001'))
    const preview = await on.call(on.people.user, 'POST', '/v1/requests/preview', on.account('600000000001'))
    assert.equal(preview.body.allowed, true)
  })

  test('refuses a request by a user whose address nobody verified (O21)', async () => {
    await on.rule(permit)
    const reply = await on.call(on.people.user, 'POST', '/v1/requests', on.account('600000000001'))
    assert.deepEqual([reply.status, reply.body.code], [403, 'policy_denied'])
    const preview = await on.call(on.people.user, 'POST', '/v1/requests/preview', on.account('600000000001'))
    assert.equal(preview.body.allowed, false)
  })

  test('is evaluated with the present fact when the request is approved (O21)', async () => {
    await on.rule(permit)
    await verify(on.people.user, true)
    const id = await on.ask(on.account('600000000001'))
    await verify(on.people.user, false)
    const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
    assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
    await verify(on.people.user, true)
    await on.approve(id)
  })

  test('is evaluated with the present fact right before access is given (O21)', async () => {
    await on.rule(permit)
    await verify(on.people.user, true)
    const id = await on.approve(await on.ask(on.account('600000000001')))
    await verify(on.people.user, false)
    const workers = startWorkers(house)
    await on.grantsAre(id, 'failed', 'failed')
    await workers.stop()
  })

  for (const [whom, condition, person] of [
    ['the approver', 'principal.email_verified', () => on.people.approver],
    ['the requester', 'resource.requester.email_verified', () => on.people.user],
  ] as const)
    test(`about ${whom} restricts who may decide (O21)`, async () => {
      await on.rule('permit (principal, action, resource);')
      await on.rule(deciding(condition))
      const id = await on.ask(on.account('600000000001'))
      const mayDecide = async () =>
        (await possibleDeciders(house.database.tenant(on.tenant_id), id)).includes(on.people.approver.user_id)
      assert.equal(await mayDecide(), false)
      const refused = await on.call(on.people.approver, 'POST', `/v1/requests/${id}/approve`, {})
      assert.deepEqual([refused.status, refused.body.code], [403, 'policy_denied'])
      await verify(person(), true)
      assert.equal(await mayDecide(), true)
      await on.approve(id)
    })

  test('is replayed with the people’s present facts: a recording holds none', async () => {
    await on.rule('permit (principal, action, resource);')
    await on.approve(await on.ask(on.account('600000000001')))
    const draft = {
      policies: [
        {
          name: 'Verified addresses',
          rules: [
            { policy_text: permit },
            {
              policy_text: `permit (principal, action == Action::"approve", resource)
                when { principal.email_verified && resource.requester.email_verified };`,
            },
          ],
        },
      ],
    }
    const changed = async () =>
      resultOf(await replayed(on, draft)).changed.map(({ kind, differences }) => [kind, ...differences])
    assert.deepEqual(await changed(), [
      ['approve', 'newly_denied'],
      ['ask', 'newly_denied'],
    ])
    await verify(on.people.user, true)
    assert.deepEqual(await changed(), [['approve', 'newly_denied']])
    await verify(on.people.approver, true)
    assert.deepEqual(await changed(), [])
  })
})
