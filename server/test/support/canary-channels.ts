import assert from 'node:assert/strict'
import type { openCanaryRun } from './canary-run.ts'
import { startEventReceiver } from './event-receiver.ts'
import { until } from './wait.ts'

type CanaryRun = Awaited<ReturnType<typeof openCanaryRun>>

/** A channel to an address that does not exist, with this header. */
export const webhookChannel = (header: string) => ({
  name: 'a receiver',
  url: 'http://127.0.0.1:9/events',
  headers: { authorization: header },
})

/**
 * Sets up webhook channels with secrets, then changes and rotates the secrets; the receiver echoes everything that it was
 * sent.
 */
export async function giveToChannels({ secrets, owned, send, asOwner, plantSecret }: CanaryRun): Promise<void> {
  const receiver = await startEventReceiver()
  receiver.answer = (reply) =>
    reply.writeHead(400, { 'content-type': 'text/plain' }).end(JSON.stringify(receiver.last().headers))
  const header = () => secrets.plant('header of a channel')
  const shown = plantSecret
  for (let channel = 0; channel < 4; channel += 1) {
    const body = { ...webhookChannel(header()), url: receiver.url, event_filters: ['group.created'] }
    const made = await send('POST', '/v1/notification-channels/webhook', { body, headers: asOwner, shown })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const at = `/v1/notification-channels/${made.body.id}`
    const rotated = await send('POST', `${at}/rotate-secret`, { body: {}, headers: asOwner, shown })
    assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
    assert.equal((await owned('PATCH', at, { headers: { authorization: header() } })).status, 200)
    assert.equal((await owned('POST', `${at}/test`)).status, 202)
    await until('the answer is stored', async () => {
      const { body } = await owned('GET', `${at}/deliveries`)
      const [delivery] = body.data as { last_error: string | null }[]
      return delivery?.last_error?.includes('[redacted]')
    })
  }
}
