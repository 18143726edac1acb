import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { driverConformance } from '../../../test/conformance/driver-conformance.ts'
import { testDatabase } from '../../../test/support/database.ts'
import { startGuideReceiver } from '../../../test/support/guide-program.ts'
import { webhookStage } from '../../../test/support/webhook-stage.ts'
import { webhook } from './webhook.ts'

/** These tests run the receiver of the guide exactly as the guide prints it. */
const db = await testDatabase()

async function startSample() {
  const signing_secret = webhook.makeSecrets().signing_secret ?? ''
  const program = await startGuideReceiver('provisioner-webhook.md', signing_secret)
  const file = join(program.folder, 'access.json')
  type Access = { held: Record<string, unknown>; done: string[]; last: Record<string, string> }
  const read = (): Access =>
    existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { held: {}, done: [], last: {} }
  const edit = (change: (held: Access['held']) => void) => {
    const access = read()
    change(access.held)
    writeFileSync(file, JSON.stringify(access))
  }
  return {
    signing_secret,
    url: program.url,
    names: () => Object.keys(read().held),
    give: (name: string) => edit((held) => (held[name] = {})),
    take: (name: string) => edit((held) => delete held[name]),
    close: program.close,
  }
}

driverConformance('a webhook whose receiver is the sample of the guide', async () => {
  const sample = await startSample()
  const { unknown, ...stage } = await webhookStage(db, sample, sample, [])
  return { ...stage, close: sample.close }
})

suite('the sample receiver of the guide', async () => {
  const sample = await startSample()
  after(() => sample.close())
  const { url, signing_secret } = sample
  let sent = 0
  /** A message as the library of the standard signs it. */
  const message = (type: string, entitlement: string, { at = new Date(), secret = signing_secret } = {}) => {
    const body = JSON.stringify({ type, timestamp: at, data: { entitlement, user: {}, until: at } })
    const id = `message-${++sent}`
    const timestamp = String(Math.floor(at.getTime() / 1000))
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    }
    return { body, headers }
  }
  const send = async ({ body, headers }: ReturnType<typeof message>) => {
    const reply = await fetch(url, { method: 'POST', body, headers })
    return reply.status
  }
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

  test('accepts a signed message, also with a second signature in its header', async () => {
    const grant = message('access.grant', 'one')
    const both = `v1,${Buffer.alloc(32).toString('base64')} ${grant.headers['webhook-signature']}`
    assert.equal(await send({ ...grant, headers: { ...grant.headers, 'webhook-signature': both } }), 200)
    assert.ok(sample.names().includes('one'))
  })

  test('ignores a replayed message (S7)', async () => {
    const grant = message('access.grant', 'two')
    assert.equal(await send(grant), 200)
    assert.equal(await send(message('access.revoke', 'two')), 200)
    assert.equal(await send(grant), 200)
    assert.ok(!sample.names().includes('two'))
  })

  test('ignores a grant that is older than a revocation it has received', async () => {
    assert.equal(await send(message('access.revoke', 'four')), 200)
    assert.equal(await send(message('access.grant', 'four', { at: minutesAgo(1) })), 200)
    assert.ok(!sample.names().includes('four'))
  })

  test('keeps serving when a client disconnects in the middle of a message', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf')
    await once(socket, 'ready')
    socket.destroy()
    await once(socket, 'close')
    for (let times = 0; times < 5; times += 1) assert.equal(await send(message('access.ping', 'any')), 200)
  })

  type Message = ReturnType<typeof message>
  const withHeader = (name: keyof Message['headers'], value: string) => (sound: Message) => ({
    ...sound,
    headers: { ...sound.headers, [name]: value },
  })
  const wrong: [string, (sound: Message) => Message][] = [
    ['an old message', () => message('access.grant', 'never', { at: minutesAgo(6) })],
    ['a message from the future', () => message('access.grant', 'never', { at: minutesAgo(-6) })],
    ['an altered id', withHeader('webhook-id', 'another')],
    ['an altered time', withHeader('webhook-timestamp', String(Math.floor(Date.now() / 1000) + 100))],
    ['a time that is not a number', withHeader('webhook-timestamp', 'now')],
    ['an altered body', ({ headers, body }) => ({ headers, body: body.replace('never', 'never-ever') })],
    [
      'a message signed with another secret',
      () => message('access.grant', 'never', { secret: webhook.makeSecrets().signing_secret ?? '' }),
    ],
    ['no signature', withHeader('webhook-signature', '')],
    ['an empty signature', withHeader('webhook-signature', 'v1,')],
  ]
  for (const [name, make] of wrong) {
    test(`refuses ${name} (S7)`, async () => {
      assert.equal(await send(make(message('access.grant', 'never'))), 401)
      assert.deepEqual(
        sample.names().filter((held) => held.startsWith('never')),
        [],
      )
    })
  }

  test('refuses an unknown type', async () => assert.equal(await send(message('access.result', 'three')), 400))
})
