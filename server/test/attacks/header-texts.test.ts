import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../support/house.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'
import { type Way, withText } from '../support/text-fields.ts'

/** Invalid texts for everything that ends up in a mail's header, or in messages about other users. */
const { house, ours: tenant, ourRecords: records } = await openStage()
const { tenant_id, owner, people } = tenant

const lines: Record<string, string> = {
  'a second header': 'Access\r\nBcc: evil@example.com',
  'a bare line feed': 'Access\nBcc: evil@example.com',
  'a bare carriage return': 'Access\rBcc: evil@example.com',
  'its own body': 'Access\r\n\r\n<b>evil</b>',
  'a folded line': 'Access\r\n evil',
  'an encoded word': '=?utf-8?q?=0d=0aBcc:_evil@example.com?=',
  'a change of direction': 'Access \u202egpj.exe',
  'an isolate': '\u2066evil\u2069',
  'a line separator': 'Access\u2028Bcc: evil@example.com',
  'a paragraph separator': 'Access\u2029evil',
  'the next line of C1': 'Access\u0085Bcc: evil@example.com',
  NUL: 'Access\u0000',
  'a bell': 'Access\u0007',
  '10 KB': 'x'.repeat(10_240),
}
const addresses: Record<string, string> = {
  ...lines,
  'two addresses': 'a@example.com,b@example.com',
  'two by semicolon': 'a@example.com;b@example.com',
  'a second one in a header': 'a@example.com\r\nBcc: b@example.com',
  'a display name': 'Access <a@example.com>',
  'a second one in angle brackets': 'a@example.com<b@example.com>',
  'a quoted one': '"a@example.com,b"@example.com',
  'a comment': 'a(\r\n)@example.com',
  'a group': 'all: a@example.com;',
  'a route': '@evil.example:a@example.com',
}

async function requireRefused(operationId: string, url: string | undefined, body: unknown, pointer: string) {
  const operation = operations[operationId]
  assert.ok(operation)
  const reply = await house.call({
    ...{ method: operation.method, url: url ?? addressed(operation.path, records), body },
    ...{ api_key: owner.api_key, tenant_id },
  })
  assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_input'], reply.text)
  const { fields = [] } = (reply.body.details ?? {}) as { fields?: { pointer: string }[] }
  assert.ok(
    fields.every((field) => field.pointer.startsWith(pointer)),
    reply.text,
  )
}

const places: [string, Way, Record<string, string>][] = [
  ['name', ['name'], lines],
  ['subject_prefix', ['subject_prefix'], lines],
  ['from_address', ['from_address'], addresses],
  ['to_addresses', ['to_addresses', '[]'], addresses],
]

for (const operationId of ['createEmailChannel', 'updateNotificationChannel']) {
  for (const [place, way, texts] of places) {
    suite(`${place} of ${operationId} is refused with`, () => {
      for (const [what, text] of Object.entries(texts)) {
        test(`${what} (J8)`, () =>
          requireRefused(operationId, undefined, withText(sampleBodies[operationId], way, text), `/${way[0]}`))
      }
    })
  }
}

suite('the sender of a tenant is refused with', () => {
  for (const [what, value] of Object.entries(addresses)) {
    test(`${what} (J8)`, () =>
      requireRefused('upsertSetting', '/v1/settings/notifications.from_address', { value }, '/value'))
  }
})

test('markup in a reason is handed on as the text that it is, in JSON that no browser reads as a page (J9)', async () => {
  const reason = `<img src=x onerror=alert(1)> [a](javascript:alert(1)) =cmd|'/c calc'!A0 </script>`
  const reply = await house.call({
    ...{ method: 'POST', url: '/v1/requests', token: people.user.token, tenant_id },
    body: { resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnly', reason },
  })
  assert.equal(reply.status, 201, reply.text)
  const read = await house.call({
    ...{ method: 'GET', url: `/v1/requests/${reply.body.id}`, token: people.approver.token, tenant_id },
  })
  assert.equal(read.body.reason, reason)
  assert.match(String(read.headers['content-type']), /^application\/json/)
  assert.equal(read.headers['x-content-type-options'], 'nosniff')
})
