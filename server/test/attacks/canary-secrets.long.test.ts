import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeBackup } from '../../src/backup/backup.ts'
import { providerTypes } from '../../src/identity-providers/provider-config.ts'
import { newId } from '../../src/kernel/id.ts'
import { aiProviderTypes } from '../../src/settings/ai-provider.ts'
import { refreshInProgram, sendStrangeSessions, signInToBrowser } from '../support/canary-browsers.ts'
import { giveToChannels, webhookChannel } from '../support/canary-channels.ts'
import { writeToMailServer } from '../support/canary-mail.ts'
import { databaseServer, giveToProvisioners, provisioner } from '../support/canary-provisioners.ts'
import { openCanaryRun } from '../support/canary-run.ts'
import { CanarySecrets } from '../support/canary-secrets.ts'
import { callEveryOperation } from '../support/canary-walk.ts'
import { limitConnections } from '../support/database.ts'
import { startScript } from '../support/sallyport.ts'
import { answerOf, redirect_uri } from '../support/sign-in-stage.ts'
import { until } from '../support/wait.ts'

/**
 * Gives two hundred secrets to a real process in every way that it accepts one, correctly and incorrectly, with the log at its
 * most verbose level. Then searches everything that it logs, stores or shows.
 */
const run = await openCanaryRun()
const { secrets, idp, client, sallyport, metricsPort, send, owned, inTenant, asOwner, plantToken, plantKey } = run
const { bootstrap, base_url, asSuperuser } = sallyport

test('secrets are given in every way that the service accepts one', async () => {
  for (let person = 0; person < 12; person += 1) {
    const credentials = { email: `person-${person}@example.com`, password: secrets.plant('password') }
    const made = await owned('POST', '/v1/users', { ...credentials, name: 'Person', roles: ['admin'] })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const signedIn = await send('POST', '/v1/auth/login', { body: credentials, headers: inTenant, shown: plantToken })
    assert.equal(signedIn.status, 200)
    const wrong = { ...credentials, password: secrets.plant('wrong password') }
    assert.equal((await send('POST', '/v1/auth/login', { body: wrong, headers: inTenant })).status, 401)
    const headers = { ...inTenant, authorization: `Bearer ${signedIn.body.token}` }
    const change = { current_password: credentials.password, new_password: secrets.plant('new password') }
    assert.equal((await send('POST', '/v1/users/me/password', { body: change, headers })).status, 204)
    await send('GET', '/v1/users/me/profile', { headers })
    await send('GET', '/v1/policies', { headers: { ...headers, 'x-api-key': bootstrap.api_key } })
    await signInToBrowser(run, String(signedIn.body.token), { signsOut: person % 2 === 0 })
    if (person % 4 !== 0) continue
    const body = { ...credentials, password: change.new_password }
    const again = await send('POST', '/v1/auth/login', { body, headers: inTenant, shown: plantToken })
    await refreshInProgram(run, String(again.body.token))
  }
  for (let number = 0; number < 20; number += 1) {
    const body = { name: `key ${number}`, scopes: ['users:read', 'requests:create'] }
    const made = await send('POST', '/v1/api-keys', { body, headers: asOwner, shown: plantKey })
    assert.equal(made.status, 201)
    const key = String(made.body.key)
    await send('GET', '/v1/users', { headers: { ...inTenant, 'x-api-key': key } })
    await send('GET', '/v1/users', { headers: { ...inTenant, 'x-api-key': `${key}x` } })
    if (number % 2 === 0) await owned('DELETE', `/v1/api-keys/${made.body.id}`)
  }
  for (const provider_type of providerTypes) {
    const config = () => ({
      token: secrets.plant(`token of ${provider_type}`),
      bind_password: secrets.plant(`password of ${provider_type}`),
      webhook_url: `https://hooks.example.com/services/${secrets.plant(`webhook of ${provider_type}`)}`,
      base_url: `https://${secrets.plant('name in an address')}:${secrets.plant('password in an address')}@example.com/`,
      deep: { er: [{ private_key: secrets.plant(`nested key of ${provider_type}`) }] },
    })
    const made = await owned('POST', '/v1/identity-providers', { name: provider_type, provider_type, config: config() })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    await owned('PATCH', `/v1/identity-providers/${made.body.id}`, { config: config() })
    const body = { name: 'SCIM', identity_provider_id: made.body.id }
    await send('POST', '/v1/api-keys', { body, headers: asOwner, shown: plantKey })
  }
  await giveToProvisioners(run)
  await giveToChannels(run)
  await writeToMailServer(run)
  for (const type of aiProviderTypes) {
    const config = {
      api_key: secrets.plant(`key of ${type}`),
      headers: { authorization: secrets.plant(`header of ${type}`) },
    }
    assert.equal((await owned('PUT', `/v1/settings/ai-providers/${type}`, { config })).status, 200)
    await owned('PUT', '/v1/settings/ai-provider-default', { type })
  }
})

test('users sign in by providers, correctly and incorrectly', async () => {
  const setting = { ...client, issuer: idp.issuer }
  assert.equal((await owned('PUT', '/v1/settings/sign-in', setting)).status, 200)
  const query = new URLSearchParams({ tenant: bootstrap.tenant_id, redirect_uri })
  const plantState = (_: string, headers: Headers) => [
    secrets.plant('state', String(new URL(String(headers.get('location'))).searchParams.get('state'))),
  ]
  for (let account = 0; account < 6; account += 1) {
    const begun = await send('GET', `/v1/auth/authorize?${query}`, { shown: plantState })
    assert.equal(begun.status, 302)
    const claims = { email: `by-provider-${account}@example.com`, email_verified: true }
    const back = answerOf(await idp.signIn(String(begun.headers.get('location')), `account-${account}`, claims))
    secrets.plant('code', back.code)
    const finish = (body: unknown) => send('POST', '/v1/auth/callback', { body, shown: plantToken })
    await finish({ ...back, state: `${back.state}x` })
    if (account % 2 === 0) assert.equal((await finish(back)).status, 200)
    await finish(back)
    await finish({ ...back, code: secrets.plant('code that is none') })
    await finish({ code: secrets.plant('code from elsewhere'), redirect_uri })
  }
  // `fetch` sets its own `sec-fetch-mode`.
  const set = await new Promise<string>((resolve) => {
    get(`${base_url}/v1/auth/authorize?${query}`, { headers: { 'sec-fetch-mode': 'navigate' } }, (reply) => {
      reply.resume()
      resolve(String(reply.headers['set-cookie']))
    })
  })
  secrets.plant('cookie', /=([^;]{20,})/.exec(set)?.[1])
})

test('secrets are given in ways that it refuses', async () => {
  const names = ['api_key', 'access_token', 'token', 'password', 'code', 'client_secret']
  for (const path of ['/v1/users', '/v1/policies', '/v1/nothing', '/docs', '/livez']) {
    for (const name of names)
      await send('GET', `${path}?${name}=${secrets.plant(`${name} in a query`)}`, { headers: asOwner })
  }
  const headers = 'cookie x-auth-token proxy-authorization authorization x-api-key user-agent referer'.split(' ')
  for (const name of headers) {
    await send('GET', '/v1/users', { headers: { ...inTenant, [name]: secrets.plant(`a secret in ${name}`) } })
    await send('GET', '/v1/users', { headers: { ...inTenant, [name]: `Basic ${btoa(`x:${secrets.plant('Basic')}`)}` } })
  }
  assert.deepEqual(await sendStrangeSessions(run), [401, 400])
  const wrong: [string, string, (secret: string) => unknown][] = [
    ['POST', '/v1/auth/back-channel-logout/global', (secret) => new URLSearchParams({ logout_token: secret })],
    ['POST', '/v1/auth/back-channel-logout/global', (secret) => ({ logout_token: secret })],
    ['POST', `/v1/auth/back-channel-logout/${newId()}`, (secret) => new URLSearchParams({ [secret]: secret })],
    ['POST', '/v1/auth/login', (secret) => `{"email": "a@example.com", "password": "${secret}"`],
    ['POST', '/v1/auth/login', (secret) => ({ email: 'a@example.com', password: [secret] })],
    ['POST', '/v1/auth/login', (secret) => ({ email: 'a@example.com', password: secret.repeat(40) })],
    ['POST', '/v1/auth/login', (secret) => ({ email: secret, password: 'x' })],
    ['POST', '/v1/auth/callback', (secret) => ({ code: { secret }, redirect_uri })],
    ['POST', '/v1/auth/callback', (secret) => ({ code: 'x', state: secret.repeat(50), redirect_uri })],
    ['POST', '/v1/users', (secret) => ({ email: 'not one', name: 'X', roles: ['user'], password: secret })],
    ['POST', '/v1/users', (secret) => ({ email: 'x@example.com', name: 'X', roles: ['user'], password: { secret } })],
    ['POST', '/v1/users', (secret) => `{"password": "${secret}", "password": "${secret}"}`],
    ['POST', '/v1/identity-providers', (secret) => ({ name: 'X', provider_type: 'custom_scim', config: secret })],
    ['POST', '/v1/provisioners', (secret) => provisioner({ ...databaseServer, password: [secret] })],
    ['POST', '/v1/provisioners', (secret) => provisioner({ ...databaseServer, password: 'x', secret })],
    ['POST', '/v1/provisioners', (secret) => provisioner({ ...databaseServer, host: '10.0.0.1', password: secret })],
    ['POST', '/v1/notification-channels/webhook', (secret) => ({ ...webhookChannel(secret), url: 'https://10.0.0.1' })],
    ['POST', '/v1/notification-channels/webhook', (secret) => ({ ...webhookChannel(`a\n${secret}`) })],
    ['POST', '/v1/identity-providers', (secret) => ({ name: 'X', provider_type: 'none', config: { token: secret } })],
    ['PUT', '/v1/settings/ai-providers/provider_a', (secret) => ({ config: [secret] })],
    ['PUT', '/v1/settings/ai-providers/nobody', (secret) => ({ config: { api_key: secret } })],
    ['PUT', '/v1/settings/sign-in', (secret) => ({ ...client, issuer: 'https://10.0.0.1', client_secret: secret })],
    ['PUT', '/v1/settings/sign-in', (secret) => ({ ...client, issuer: idp.issuer, client_secret: { secret } })],
  ]
  for (const [method, path, body] of wrong) {
    const reply = await send(method, path, {
      body: body(secrets.plant(`a malformed ${method} ${path}`)),
      headers: asOwner,
    })
    assert.ok(reply.status >= 400 && reply.status < 500, `${method} ${path}: ${reply.status}`)
  }
})

test('every operation is called, and every page', async () => {
  await callEveryOperation(run)
  for (const list of ['identity-providers', 'api-keys', 'users', 'provisioners', 'notification-channels']) {
    const { data = [] } = (await owned('GET', `/v1/${list}?limit=200`)).body as { data?: { id: string }[] }
    assert.ok(data.length > 7, `${list}: ${data.length}`)
    for (const { id } of data) await owned('GET', `/v1/${list}/${id}`)
  }
  for (const path of ['/', '/docs/', '/docs/json', '/openapi.json', '/livez', '/readyz', '/.well-known/jwks.json']) {
    await send('GET', path)
  }
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  assert.match(metrics, /sallyport_/)
  secrets.keep('/metrics', metrics)
})

/** Gives a secret in every way, so that the failures below happen while one is being processed. */
async function giveSecrets(): Promise<number[]> {
  const config = () => ({ token: secrets.plant('a provider’s token while the database fails') })
  const password = () => secrets.plant('a password while the database fails')
  const replies = [
    await send('POST', '/v1/auth/login', {
      body: { email: bootstrap.admin.email, password: password() },
      headers: inTenant,
    }),
    await owned('POST', '/v1/users', {
      email: 'late@example.com',
      name: 'Late',
      roles: ['user'],
      password: password(),
    }),
    await owned('POST', '/v1/identity-providers', { name: 'Late', provider_type: 'custom_scim', config: config() }),
    await owned('POST', '/v1/provisioners', provisioner({ ...databaseServer, password: password() })),
    await owned('POST', '/v1/notification-channels/webhook', webhookChannel(password())),
    await owned('PUT', '/v1/settings/ai-providers/provider_b', { config: config() }),
    await owned('PUT', '/v1/settings/sign-in', { ...client, issuer: idp.issuer, client_secret: password() }),
  ]
  return [...replies.map(({ status }) => status), ...(await sendStrangeSessions(run))]
}

test('the database fails, then is gone, while secrets are in flight', async () => {
  const tables = ['identity_provider', 'provisioner', 'notification_channel', 'ai_provider', 'sign_in_setting', 'event']
  for (const name of tables) await asSuperuser(`alter table ${name} rename to ${name}_gone`)
  assert.ok((await giveSecrets()).filter((status) => status === 500).length >= 3)
  for (const name of tables) await asSuperuser(`alter table ${name}_gone rename to ${name}`)
  await limitConnections(sallyport, 0)
  const statuses = await giveSecrets()
  await limitConnections(sallyport, -1)
  assert.ok(statuses.includes(503), statuses.join(', '))
  await until('the service is ready again', async () => (await fetch(`${base_url}/readyz`)).ok)
})

test('a process that refuses to start prints no secret of its environment (S4)', async () => {
  const environments: Record<string, string>[] = [
    { DATABASE_URL: `postgres://sallyport_app:${secrets.plant('DATABASE_URL')}@127.0.0.1:9/nothing` },
    { DATABASE_URL: `mysql://sallyport_app:${secrets.plant('DATABASE_URL of another kind')}@127.0.0.1:9/nothing` },
    { SECRET_KEY: secrets.plant('SECRET_KEY') },
    { SMTP_URL: `smtp://me:${secrets.plant('SMTP_URL')}@127.0.0.1/elsewhere` },
    { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_SECRET: secrets.plant('OIDC_CLIENT_SECRET') },
  ]
  for (const env of environments) {
    const started = startScript('start', [], { ...env, DATA_DIR: join(sallyport.data_dir, 'nothing'), PORT: '0' })
    await until('it logs the reason', async () => started.output().includes('\n'))
    // A process that cannot reach its database keeps trying.
    started.signal('SIGTERM')
    await started.end()
    secrets.keep(`what a start with ${Object.keys(env)[0]} says`, started.output())
  }
})

suite('the secrets', () => {
  test('are at least two hundred, and one in a known place is found', () => {
    assert.ok(secrets.count >= 200, `${secrets.count}`)
    for (const write of [String, encodeURIComponent, (text: string) => Buffer.from(text).toString('hex'), btoa]) {
      const one = new CanarySecrets()
      const text = `before ${write(one.plant('one'))} after`
      assert.deepEqual(one.findIn({ where: 'here', text }), ['one in here'])
    }
  })

  test('are in tables only hashed or sealed, and not in the backup (S4)', async () => {
    const tables = await asSuperuser<{ name: string }>(
      `select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    )
    assert.ok(tables.length > 20)
    for (const { name } of tables) {
      const rows = await asSuperuser<{ text: string }>(`select t::text as text from ${name} t`)
      const text = rows.map((row) => row.text).join('\n')
      if (name === 'event') assert.match(text, /api_key\.created/)
      assert.deepEqual(secrets.findIn({ where: name, text }), [])
    }
    const file = join(sallyport.data_dir, 'backup.gz')
    await writeBackup(sallyport.service, file)
    const backup = gunzipSync(readFileSync(file)).toString('utf8')
    assert.match(backup, /person-1@example\.com/)
    assert.deepEqual(secrets.findIn({ where: 'the backup', text: backup }), [])
  })

  test('are in no answer except the one that shows each once, not in metrics, and not in a failed start’s output (S4)', () => {
    assert.ok(secrets.seen.length > 500, `${secrets.seen.length} answers`)
    assert.deepEqual(secrets.findAll(), [])
  })

  test('are not in the log, and not in the system’s data of the process (S4)', async () => {
    const shown = readFileSync(`/proc/${sallyport.pid}/cmdline`, 'utf8')
    await sallyport.stop()
    const log = sallyport.output()
    assert.match(log, /"url":"\/v1\/identity-providers"/)
    assert.match(log, /identity_provider/, 'internal errors are logged')
    assert.deepEqual(secrets.findIn({ where: 'the log', text: log }), [])
    assert.deepEqual(secrets.findIn({ where: 'the command line', text: shown }), [])
  })
})
