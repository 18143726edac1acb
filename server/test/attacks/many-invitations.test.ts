import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { mailInvitation } from '../../src/invitations/mail-invitation.job.ts'
import { openMailer } from '../../src/notification-channels/mail/mailer.flow.ts'
import { openSealer } from '../../src/secrets/sealer.ts'
import { openHouse } from '../support/house.ts'
import { startMailPeer } from '../support/mail-peer.ts'
import { until } from '../support/wait.ts'
import { startWorkers } from '../support/workers.ts'

const peer = await startMailPeer()
const env = { SMTP_URL: peer.url, SMTP_MESSAGES_PER_SECOND: '0', MAIL_FROM: 'sallyport@ops.example' }
const public_url = 'https://sallyport.example.com'
const house = await openHouse({ ...env, PUBLIC_URL: public_url })
const mailer = openMailer(readConfig(env))
after(async () => {
  mailer.close()
  await peer.stop()
})

test('an address gets five invitations a day, although the user’s old ones are deleted meanwhile', async () => {
  const { tenant_id, owner } = await house.tenant('many')
  const invite = async (url: string, body?: unknown) => {
    const reply = await house.call({
      method: 'POST',
      url,
      token: owner.token,
      tenant_id,
      ...(body !== undefined && { body }),
    })
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  const mailing = { mailer, sealer: openSealer(house.rootKeys), public_url, leaving: new AbortController().signal }
  const workers = startWorkers(house, [mailInvitation(mailing)])
  const isSettled = async () => {
    const waiting = 'select from invitation_mail where tenant_id = $1 and next_look_at is not null'
    return (await house.asSuperuser(waiting, [tenant_id])).length === 0
  }
  const { user_id } = await invite('/v1/invitations', { email: 'ben@example.com', name: 'Ben', roles: ['user'] })
  for (let nth = 0; nth < 50; nth += 1) {
    await until('the mail is sent', isSettled)
    await invite(`/v1/users/${user_id}/invitations`)
  }
  await until('the last mail is sent', isSettled)
  await workers.stop()
  assert.equal(peer.taken.length, 5)
})
