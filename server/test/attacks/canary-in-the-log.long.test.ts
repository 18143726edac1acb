import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../src/operations.ts'
import { fullBody } from '../support/full-bodies.ts'
import { inTurns } from '../support/in-turns.ts'
import { placesOnce } from '../support/places-once.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { textFields, withText } from '../support/text-fields.ts'

/** The contents of a tenant's bodies never appear in the process's log, even at its most verbose level. */
const canary = 'canary4h9x2vb'
const sallyport = await startOnTestServer({ LOG_LEVEL: 'trace' })
const ada = await sallyport.join('Ada', ['admin'])
const id = '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11'

const isWalked = placesOnce()
/** In a usual run each place is tried with two of them. */
const someTexts = inTurns([canary, `${canary}@example.com`, `https://${canary}.example`, `${canary}\u0000`], 2)

test('no line of the log contains text of a body, or a credential (T14)', async () => {
  const key = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  let taken = 0
  for (const [operationId, { method, path, body, credential }] of Object.entries(operations)) {
    const call = credential === 'user' ? ada.call : key
    const url = path.replaceAll(/\{\w+\}/g, id)
    for (const way of textFields(body)) {
      // A hash costs more than everything else: passwords are tried below.
      if (way.join().includes('password') || !isWalked(operationId, way)) continue
      for (const text of someTexts()) {
        const { status } = await call(method, url, withText(fullBody(operationId), way, text))
        if (status < 300) taken += 1
      }
    }
    if (body !== undefined) await call(method, url, { [canary]: canary })
  }
  assert.ok(taken >= 15, `taken ${taken} times`)
  // The operator sees an internal error in full; it contains no text of the caller either.
  await sallyport.asSuperuser('alter table tenant_group rename to tenant_group_gone')
  const failed = await key('POST', '/v1/groups', { name: canary, description: canary })
  assert.equal(failed.status, 500)
  await sallyport.asSuperuser('alter table tenant_group_gone rename to tenant_group')

  const { admin, api_key } = sallyport.bootstrap
  await sallyport.client(undefined)('POST', '/v1/auth/login', { email: admin.email, password: admin.password })
  await sallyport.client(undefined)('POST', '/v1/auth/login', { email: admin.email, password: canary })
  await sallyport.stop()
  const log = sallyport.output()
  assert.match(log, /"url":"\/v1\/groups"/, 'the log contains calls')
  assert.match(log, /tenant_group/, 'the log contains internal errors')
  for (const secret of [canary, api_key, api_key.split('_')[2] ?? api_key, admin.password]) {
    const line = log.split('\n').find((one) => one.includes(secret))
    assert.equal(line, undefined)
  }
})
