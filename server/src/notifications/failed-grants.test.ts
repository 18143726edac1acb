import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifiedStage } from '../../test/support/notified-stage.ts'

/** What people learn of a grant that failed. */
const on = await notifiedStage('failed grants')
const { people } = on

type Item = { event_type: string; body: string }

test('the notification of a failed grant says why, in the words of its target, and so does the mail', async () => {
  await on.inject({ failed: 1 })
  const id = await on.ask(on.account('720000000501')).then(on.approve)
  await on.grantsAre(id, 'failed', 'failed')
  await on.mail()
  const { body } = await on.call(people.user, 'GET', '/v1/users/me/notifications?limit=100')
  const failed = (body.data as Item[]).find(({ event_type }) => event_type === 'grant.failed')
  assert.match(failed?.body ?? '', /Target said: “the sandbox answered FAILED”/)
  const mails = await on.mailsOf(people.user)
  assert.ok(mails.some(({ text }) => text?.includes('the sandbox answered FAILED')))
})
