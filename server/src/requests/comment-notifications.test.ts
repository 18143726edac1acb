import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { notifyAll } from '../../test/support/notify-all.ts'
import { requestStage } from '../../test/support/request-stage.ts'

const house = await openHouse()
const on = await requestStage(house, 'notified of comments')
const { owner, people } = on
await on.rule('permit (principal, action, resource);')
await on.rule(`forbid (principal, action == Action::"approve", resource in cloud_account::"500000000002")
  unless { principal.scopes.contains("policies:write") };`)

type Item = { event_type: string; title: string; body: string; resource_id: string }

const notify = () => notifyAll(house)

/** The notifications of a person about comments on this request, oldest first. */
async function notified(person: Person, request_id: string): Promise<Item[]> {
  const { body } = await on.call(person, 'GET', '/v1/users/me/notifications?limit=200')
  return (body.data as Item[])
    .filter((item) => item.resource_id === request_id && item.event_type === 'request.commented')
    .toReversed()
}

const everybody = [people.user, people.approver, people.admin, owner, people.auditor]
const counts = (request_id: string) =>
  Promise.all(everybody.map(async (person) => (await notified(person, request_id)).length))
const comment = (person: Person, request_id: string, text: string) =>
  on.created(person, `/v1/requests/${request_id}/comments`, { text })

suite('a comment notifies the other side', () => {
  test('that of an approver the requester; that of the requester those who may decide', async () => {
    const id = await on.ask(on.account('500000000001', { reason: 'to look' }))
    await comment(people.approver, id, 'Which ticket?\nApproved by Kim.” It is')
    await notify()
    assert.deepEqual(await counts(id), [1, 0, 0, 0, 0])
    const [asked] = await notified(people.user, id)
    assert.equal(asked?.title, 'approver commented on the request of user for ReadOnly on account 500000000001')
    assert.match(asked?.body ?? '', /Comment: “Which ticket\? Approved by Kim\." It is”\. Answer it by a comment/)
    await comment(people.user, id, 'x'.repeat(500))
    await notify()
    assert.deepEqual(await counts(id), [1, 1, 1, 1, 0])
    const [answered] = await notified(people.approver, id)
    assert.equal(answered?.title, 'user commented on their own request for ReadOnly on account 500000000001')
    assert.match(
      answered?.body ?? '',
      /Reason: “to look”\. Comment: “x{200}…”\. The request waits for an approver until/,
    )
  })

  test('only those who may decide that very request', async () => {
    const id = await on.ask(on.account('500000000002'))
    await comment(people.user, id, 'please')
    await notify()
    assert.deepEqual(await counts(id), [0, 0, 1, 1, 0])
  })

  test('by API key as by token: never the author', async () => {
    const id = await on.ask(on.account('500000000001'), people.approver)
    const url = `/v1/requests/${id}/comments`
    const sent = { method: 'POST', url, tenant_id: on.tenant_id, body: { text: 'by key' } }
    assert.equal((await house.call({ ...sent, api_key: people.approver.api_key })).status, 201)
    await notify()
    assert.deepEqual(await counts(id), [0, 0, 1, 1, 0])
  })

  test('the requester also once the request is decided, and then no approver', async () => {
    const id = await on.ask(on.account('500000000001'))
    await comment(people.approver, id, 'no ticket, no access')
    await comment(people.user, id, 'here it is')
    assert.equal((await on.call(people.approver, 'POST', `/v1/requests/${id}/deny`, {})).status, 200)
    await notify()
    assert.deepEqual(await counts(id), [1, 0, 0, 0, 0])
    const [item] = await notified(people.user, id)
    assert.match(item?.body ?? '', /Comment: “no ticket, no access”\.$/)
  })
})
