import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import type { Break } from '../../../test/conformance/stage.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { startReceiver, type TestReceiver } from '../../../test/support/webhook-receiver.ts'
import { gatewayKey, webhookStage } from '../../../test/support/webhook-stage.ts'
import { webhook } from './webhook.ts'

const db = await testDatabase()

function breaksOf(receiver: TestReceiver): Break[] {
  const behaving = (name: string, behave: TestReceiver['behave']): Break => ({
    name,
    begin() {
      const before = receiver.behave
      receiver.behave = behave
      return Promise.resolve(() => {
        receiver.behave = before
        return Promise.resolve()
      })
    },
    healthSees: true,
  })
  return [
    behaving('it answers nothing', () => undefined),
    behaving('it answers 500', () => ({ status: 500, text: '<h1>Internal Server Error</h1>' })),
    behaving('it answers 429', () => ({ status: 429, headers: { 'retry-after': '1' } })),
    behaving('it echoes the secrets that it was sent', ({ headers }) => ({
      status: 409,
      body: { message: `this came with ${headers.authorization} and ${gatewayKey}` },
    })),
    behaving('it answers with an HTML page', () => ({ status: 200, text: '<p>done</p>' })),
    behaving('it answers an unknown status', () => ({ status: 200, body: { status: 'perhaps' } })),
    behaving('it answers a list', () => ({ status: 200, body: ['done'] })),
    behaving('it redirects', () => ({ status: 302, headers: { location: receiver.url } })),
    behaving('it answers without end', () => ({ status: 200, body: { status: 'done', more: 'x'.repeat(1_100_000) } })),
    {
      name: 'it holds another secret',
      begin() {
        const { secret } = receiver
        receiver.secret = webhook.makeSecrets().signing_secret ?? ''
        return Promise.resolve(() => {
          receiver.secret = secret
          return Promise.resolve()
        })
      },
      healthSees: true,
    },
  ]
}

for (const later of [0, 2]) {
  driverConformance(`a webhook whose receiver finishes ${later === 0 ? 'at once' : 'later'}`, async () => {
    const signing_secret = webhook.makeSecrets().signing_secret ?? ''
    const receiver = await startReceiver(signing_secret, { later })
    const { held, url } = receiver
    const holdings = {
      names: () => [...held.keys()],
      give: (name: string) => held.set(name, undefined),
      take: (name: string) => held.delete(name),
    }
    const stage = await webhookStage(db, { url, signing_secret }, holdings, later === 0 ? breaksOf(receiver) : [])
    return { ...stage, close: () => receiver.stop() }
  })
}
