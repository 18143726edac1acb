import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Refusal } from '../support/client.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { totpApp } from '../support/totp-app.ts'
import { until } from '../support/wait.ts'

/** The real service with its most detailed log. */
const sallyport = await startOnTestServer({ LOG_LEVEL: 'trace' })

test('no code, secret, challenge or token of a sign-in is in the log, whether it comes to something or not (A22, D1)', async () => {
  const anna = await sallyport.join('Anna', ['user'])
  const anybody = sallyport.client(undefined)
  const url = '/v1/users/me/second-factors'
  const begun = await anna.call<{ id: string; totp: { secret: string; uri: string } }>('POST', url, { kind: 'totp' })
  const app = totpApp(begun.body.totp.secret)
  const confirm = (totp: string) =>
    anna.call<{ recovery_codes: string[] }>('POST', `${url}/${begun.body.id}/confirm`, { totp })
  const [wrong, right] = [app.wrong(), app.code()]
  assert.equal((await confirm(wrong)).status, 400)
  const codes = (await confirm(right)).body.recovery_codes
  const { email, password } = anna
  const asked = await anybody<Refusal>('POST', '/v1/auth/login', { email, password })
  const challenge = String(asked.body.details?.challenge)
  const finish = (proof: object) =>
    anybody<{ token: string }>('POST', '/v1/auth/second-factor', { challenge, ...proof })
  assert.equal((await finish({ totp: app.wrong(1) })).status, 401)
  assert.equal((await finish({ passkey: { id: 'an id of a passkey', response: {} } })).status, 401)
  assert.equal((await finish({ totp: right, recovery_code: codes[1] })).status, 400)
  const done = await finish({ recovery_code: codes[0] })
  assert.equal(done.status, 200)
  assert.equal((await finish({ recovery_code: codes[0] })).status, 401)
  const calls = sallyport.client({ token: done.body.token })
  const fresh = (await calls<{ recovery_codes: string[] }>('POST', '/v1/users/me/recovery-codes')).body.recovery_codes
  await calls('GET', '/v1/the-last-call-of-this-test').catch(() => undefined)
  await until('the log has the last call', async () => sallyport.output().includes('/v1/the-last-call-of-this-test'))
  const log = sallyport.output()
  assert.ok(log.includes('/v1/auth/second-factor'), 'the log has the calls')
  const secrets = [
    begun.body.totp.secret,
    challenge,
    done.body.token,
    password,
    'an id of a passkey',
    ...codes,
    ...fresh,
  ]
  for (const secret of secrets) assert.ok(!log.includes(secret), `${secret} is in the log`)
  // Six digits stand in many a number: here they would stand alone.
  for (const code of [wrong, right, app.wrong(1)]) assert.ok(!new RegExp(`["\\s:]${code}["\\s,}]`).test(log), code)
})
