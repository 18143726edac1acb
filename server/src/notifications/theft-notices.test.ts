import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifiedStage } from '../../test/support/notified-stage.ts'
import { programsOf } from '../../test/support/program.ts'

/** A used refresh token that comes again may be in other hands: its user is notified. */
const on = await notifiedStage('Acme')
const { house, people, owner, mail, mailsOf, subjectsOf } = on
const programs = programsOf(house)

test('the user of a refresh token that was used twice is notified and mailed, and nobody else', async () => {
  const { user } = people
  const tenant_id = on.tenant_id
  const first = await programs.signIn(tenant_id, user)
  await programs.next(first)
  await programs.usedAgo(first, 11)
  assert.equal((await programs.refresh(first.refresh_token)).status, 401)
  await mail()
  const title = 'A refresh token of user (user@example.com) was used twice'
  assert.deepEqual(await subjectsOf(user), [title])
  const [{ text = '' } = {}] = await mailsOf(user)
  assert.match(text, /so the session of the program that held it has ended/)
  assert.match(text, /change the password, end all other sessions/)
  assert.match(text, /because it is your account in Acme\. .*kind\s+security/s)
  for (const other of [owner, people.admin, people.approver]) assert.deepEqual(await subjectsOf(other), [])
  const { data } = (await on.call(user, 'GET', '/v1/users/me/notifications')).body
  const [notification] = data as Record<string, unknown>[]
  assert.deepEqual(
    [notification?.event_type, notification?.title, notification?.resource_type, notification?.resource_id],
    ['user.refresh_token_reused', title, 'user', user.user_id],
  )
  // What is repeated in time is no theft.
  const program = await programs.signIn(tenant_id, user)
  await programs.next(program)
  await programs.usedNow(program)
  await programs.next(program)
  await mail()
  assert.equal((await subjectsOf(user)).length, 1)
})
