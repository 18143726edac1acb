import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { startGuideReceiver } from '../../../test/support/guide-program.ts'
import { makeSigningSecret, signed } from '../../egress/standard-webhooks.ts'

/** These tests run the receiver of the guide exactly as the guide prints it. */
const secret = makeSigningSecret()
const sample = await startGuideReceiver('webhook-channels.md', secret)
after(() => sample.close())

type Message = { body: string; headers: Record<string, string> }
let sent = 0

/** A message about this, signed as the service signs it. */
function message(about: string, { at = new Date(), keys = [secret], id = `message-${++sent}` } = {}): Message {
  const body = JSON.stringify({ type: 'grant.activated', timestamp: at, data: { id: about } })
  return { body, headers: signed(keys, id, at, body) }
}

async function send({ body, headers }: Message): Promise<number> {
  const reply = await fetch(sample.url, { method: 'POST', body, headers })
  return reply.status
}

/** The ids that the receiver has recorded. */
function takenIn(): string[] {
  const file = join(sample.folder, 'events.ndjson')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.map((line) => JSON.parse(line).data.id as string)
}
const times = (about: string) => takenIn().filter((one) => one === about).length
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

suite('the receiver of the guide', () => {
  test('accepts messages signed by the service and by the library of the standard', async () => {
    assert.equal(await send(message('ours')), 204)
    const { body, headers } = message('theirs')
    const at = new Date()
    const standard = {
      'webhook-id': 'of-the-library',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('of-the-library', at, body),
    }
    assert.equal(await send({ body, headers: { ...headers, ...standard } }), 204)
    assert.deepEqual([times('ours'), times('theirs')], [1, 1])
  })

  test('accepts the old and the new secret during the overlap of a rotation (S7)', async () => {
    for (const keys of [
      [makeSigningSecret(), secret],
      [secret, makeSigningSecret()],
    ]) {
      assert.equal(await send(message('overlap', { keys })), 204)
    }
    assert.equal(times('overlap'), 2)
  })

  test('ignores a replay and a later retry, also after a crash (S7)', async () => {
    const one = message('once', { id: 'once' })
    assert.equal(await send(one), 204)
    assert.equal(await send(one), 200)
    await sample.kill()
    await sample.start()
    assert.equal(await send(one), 200)
    assert.equal(await send(message('once', { id: 'once', at: new Date(Date.now() + 2_000) })), 200)
    assert.equal(times('once'), 1)
  })

  test('keeps serving when a client disconnects in the middle of a message', async () => {
    const socket = connect(Number(new URL(sample.url).port), '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf')
    await once(socket, 'ready')
    socket.destroy()
    await once(socket, 'close')
    for (let count = 0; count < 5; count += 1) assert.equal(await send(message('after')), 204)
  })

  const withHeader =
    (name: string, value: string) =>
    ({ body, headers }: Message) => ({ body, headers: { ...headers, [name]: value } })
  const wrong: [string, (sound: Message) => Message][] = [
    ['an old message', () => message('never', { at: minutesAgo(6) })],
    ['a message from the future', () => message('never', { at: minutesAgo(-6) })],
    ['an altered id', withHeader('webhook-id', 'another')],
    ['an altered time', withHeader('webhook-timestamp', String(Math.floor(Date.now() / 1000) + 100))],
    ['a time that is not a number', withHeader('webhook-timestamp', 'now')],
    ['an altered body', ({ headers, body }) => ({ headers, body: body.replace('activated', 'revoked') })],
    ['a message signed with another secret', () => message('never', { keys: [makeSigningSecret()] })],
    ['no signature', withHeader('webhook-signature', '')],
    ['an empty signature', withHeader('webhook-signature', 'v1,')],
    ['no headers at all', ({ body }) => ({ body, headers: {} })],
  ]
  for (const [name, make] of wrong) {
    test(`refuses ${name} (S7)`, async () => {
      assert.equal(await send(make(message('never'))), 401)
      assert.equal(times('never'), 0)
    })
  }
})
