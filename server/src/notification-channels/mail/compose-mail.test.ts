import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import type { ToldEvent } from '../carrier.ts'
import type { EmailChannel } from '../email-channel.ts'
import { composeMail } from './compose-mail.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')
const as = { api_key: acme.owner.api_key, tenant_id: acme.tenant_id }

suite('the mail about an event', () => {
  test('says what happened to what, and why its reader gets it', async () => {
    const body = { name: 'On call', to_addresses: ['oncall@example.com'], subject_prefix: '[acme]' }
    const made = await house.call({ ...as, method: 'POST', url: '/v1/notification-channels/email', body })
    const [event] = await house.asSuperuser<ToldEvent>(
      `select id, type, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, actor_id, subject_type,
        subject_id, data from event where subject_id = $1`,
      [made.body.id],
    )
    assert.ok(event !== undefined)
    const delivery = { id: event.id, event, recipient: 'oncall@example.com', resends: 0 }
    const channel = made.body as EmailChannel
    const mail = await composeMail(
      house.database.tenant(acme.tenant_id),
      channel,
      delivery,
      'https://sallyport.example.com',
    )
    assert.equal(mail.subject, '[acme] a notification channel was created')
    assert.ok(mail.text.includes('The channel “On call” of Sallyport is told of notification_channel.created.'))
  })
})
