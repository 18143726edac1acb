import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Person } from '../../test/support/house.ts'
import { notifiedStage } from '../../test/support/notified-stage.ts'
import { forgingMarks, hostileTexts } from '../../test/support/poisoned-facts.ts'

/** Notifications and their mails name the account, beside its number. */
const on = await notifiedStage('names of accounts')
const { house, owner, people, notify, mail, mailsOf, subjectsOf } = on

async function nameAccount(account_id: string, name: string): Promise<void> {
  const resources = [{ id: account_id, account_id, name }]
  assert.equal((await on.call(owner, 'PUT', '/v1/cloud/accounts', { resources })).status, 200)
}

type Item = { title: string; body: string; resource_id: string }

async function notificationOf(person: Person, resource_id: string): Promise<Item> {
  const { body } = await on.call(person, 'GET', '/v1/users/me/notifications?limit=100')
  const found = (body.data as Item[]).find((item) => item.resource_id === resource_id)
  assert.ok(found)
  return found
}

suite('a notification names the account', () => {
  test('of a request and of a grant, with its number, as the mail does', async () => {
    const account = '720000000001'
    await nameAccount(account, 'payments-prod')
    const id = await on.ask(on.account(account))
    await mail()
    const where = `account payments-prod (${account})`
    const { title, body } = await notificationOf(people.approver, id)
    assert.equal(title, `user requests ReadOnly on ${where}`)
    assert.ok(body.startsWith(`user requests ReadOnly on ${where} for `), body)
    assert.deepEqual(await subjectsOf(people.approver), [title])
    assert.ok((await mailsOf(people.approver))[0]?.html?.includes(where))

    await on.approve(id)
    const [grant] = await on.grantsAre(id, 'active', 'successful')
    await notify()
    assert.equal((await notificationOf(people.user, String(grant?.id))).title, `user has ReadOnly on ${where}`)
  })

  test('by its number alone where it has no name of its own', async () => {
    const [unnamed, unknown] = ['720000000002', '720000000003']
    await nameAccount(unnamed, unnamed)
    for (const account of [unnamed, unknown]) {
      const id = await on.ask(on.account(account))
      await notify()
      const { title } = await notificationOf(people.approver, id)
      assert.equal(title, `user requests ReadOnly on account ${account}`)
    }
  })

  test('by a hostile name as one quoted text, on one line, with the number after it', async () => {
    for (const [nth, text] of hostileTexts.entries()) {
      const account = `72000000010${nth}`
      await nameAccount(account, 'to be hostile')
      // As a row of an earlier version: the API refuses some of these names.
      await house.asSuperuser('update cloud_account set name = $2 where account_id = $1', [
        account,
        text.replaceAll('\u0000', ''),
      ])
      const id = await on.ask(on.account(account))
      await notify()
      const { title, body } = await notificationOf(people.approver, id)
      assert.doesNotMatch(title + body, forgingMarks)
      assert.ok(body.includes(` (${account}) for `), body)
      const [, name = ''] = /on account (.*?) \(7200/.exec(body) ?? []
      assert.ok(/^“[^“”]*”$/.test(name) || /^[^\s“”]+$/.test(name), name)
    }
  })
})
