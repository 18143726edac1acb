import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFactorStage, password } from '../support/second-factor-stage.ts'
import { totpApp } from '../support/totp-app.ts'

/** What proves a second factor is shown once, to its user, and stands nowhere else (A22, D1). */
const stage = await openFactorStage()
const { house, member, login, finish, withPassword, challenge, addApp, addPasskey, as, eventsOf } = stage
const tenant = await house.tenant('secrets')

test('no code, secret, challenge or key is in an event, a record of the API, or readable in the database (A22, D1)', async () => {
  const by = await withPassword(await member(tenant, ['admin']))
  const begun = await stage.begin(by, 'totp')
  const secrets = [begun.totp.secret]
  const app = totpApp(begun.totp.secret)
  const confirmed = await stage.confirm(by, begun.id, { totp: app.code() })
  const codes = confirmed.body.recovery_codes as string[]
  secrets.push(...codes, ...codes.map((code) => code.replaceAll('-', '')))
  const strong = await stage.withFactor(by.user, { recovery_code: codes[0] })
  const key = await addPasskey(strong)
  const replaced = (await as(strong, 'POST', '/v1/users/me/recovery-codes')).body.recovery_codes as string[]
  secrets.push(...replaced)
  const offered = await challenge(by.user)
  secrets.push(offered.challenge, String(offered.passkey?.challenge), app.wrong())
  for (const proof of [
    { totp: app.wrong() },
    { recovery_code: codes[1] },
    { passkey: key.authenticator.sign({ challenge: 'x' }) },
  ]) {
    assert.equal((await finish({ challenge: offered.challenge, ...proof })).status, 401)
  }
  const refusedCause = (await eventsOf(by.user))
    .filter(({ type }) => type === 'auth.refused')
    .map(({ data }) => data.cause)
  assert.deepEqual(refusedCause, ['wrong_second_factor', 'second_factor_used', 'wrong_second_factor'])

  const answers: string[] = []
  for (const url of [
    '/v1/users/me/second-factors',
    '/v1/users/me/sessions',
    '/v1/users/me',
    `/v1/users/${by.user.id}`,
    '/v1/audit-events?limit=100',
  ]) {
    const reply = await as(strong, 'GET', url)
    if (reply.status === 200) answers.push(reply.text)
  }
  assert.ok(answers.length >= 4)
  const events = JSON.stringify(await house.asSuperuser('select * from event'))
  for (const secret of secrets) {
    for (const text of [...answers, events]) assert.ok(!text.includes(secret), `${secret} is shown`)
  }
  for (const text of answers) {
    for (const name of ['public_key', 'sealed', 'hash', key.authenticator.id]) {
      assert.ok(!text.includes(`"${name}`), `${name} is shown`)
    }
  }

  const [row] = await house.asSuperuser<{ all: string }>(
    `select (select json_agg(f)::text from second_factor f) || (select json_agg(r)::text from recovery_code r)
      || (select json_agg((to_jsonb(c) - 'passkey_challenge'))::text from sign_in_challenge c) as all`,
  )
  for (const secret of [begun.totp.secret, ...codes, ...replaced, offered.challenge]) {
    assert.ok(!row?.all.includes(secret), `${secret} is stored as it is`)
  }
})

test('the refusals of a second factor are one text, whatever the cause (D1)', async () => {
  const { user, app, codes } = await addApp(await withPassword(await member(tenant)))
  const { challenge: text } = await challenge(user)
  const used = codes[0]
  await stage.withFactor(user, { recovery_code: used })
  const key = await addPasskey(await withPassword(await member(tenant)))
  const replies = [
    await finish({ challenge: text, totp: app.wrong() }),
    await finish({ challenge: text, recovery_code: used }),
    await finish({ challenge: text, recovery_code: 'never made' }),
    await finish({ challenge: text, passkey: key.authenticator.sign({ challenge: 'x' }) }),
    await finish({ challenge: 'made up', totp: app.code() }),
  ]
  for (const { status, text: said } of replies) assert.deepEqual([status, said], [401, replies[0]?.text])
})

test('a wrong password is answered before anything is said of a limit of second factors (D4)', async () => {
  const { user, app } = await addApp(await withPassword(await member(tenant)))
  const before = await login(user, 'wrong')
  for (let times = 0; times < 3; times += 1) {
    const { challenge: text } = await challenge(user)
    for (let nth = 0; nth < 5; nth += 1) await finish({ challenge: text, totp: app.wrong(nth) })
  }
  const after = await login(user, 'wrong')
  assert.deepEqual([after.status, after.text], [before.status, before.text])
  assert.equal((await login(user, password)).body.code, 'second_factor_required')
})
