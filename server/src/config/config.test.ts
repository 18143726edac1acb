import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'

test('an empty environment gives the embedded database and a loopback address', () => {
  const config = readConfig({})
  assert.equal(config.database_url, undefined)
  assert.equal(config.public_url, 'http://127.0.0.1:8080')
  assert.equal(config.trust_proxy, false)
})

test('PUBLIC_URL loses its trailing slash', () => {
  assert.equal(readConfig({ PUBLIC_URL: 'https://sallyport.example.com/' }).public_url, 'https://sallyport.example.com')
})

const globalOidc = {
  OIDC_ISSUER: 'https://idp.example',
  OIDC_CLIENT_ID: 'sallyport',
  OIDC_CLIENT_SECRET: 'hunter2',
  OIDC_REDIRECT_URIS: 'https://a.example/cb, https://b.example/cb',
}

test('there is a global provider only if the environment names one completely', () => {
  assert.equal(readConfig({}).oidc, undefined)
  const { oidc } = readConfig(globalOidc)
  assert.deepEqual(oidc?.redirect_uris, ['https://a.example/cb', 'https://b.example/cb'])
  assert.equal(oidc?.tenant_claim, undefined)
})

const refused: [NodeJS.ProcessEnv, RegExp][] = [
  [{ PORT: 'http' }, /PORT is `http`/],
  [{ PORT: '65536' }, /1 to 65535/],
  [{ TRUST_PROXY: 'proxy.internal' }, /TRUST_PROXY holds `proxy.internal`/],
  [{ TRUST_PROXY: '10.0.0.1, 10.0.0.0/33' }, /TRUST_PROXY holds `10.0.0.0\/33`/],
  [{ TRUST_PROXY: '10.0.0.1,' }, /TRUST_PROXY holds ``/],
  [{ RATE_LIMIT_PER_SECOND: '-1' }, /RATE_LIMIT_PER_SECOND is `-1`/],
  [{ RATE_LIMIT_BURST: '0' }, /1 to 999999/],
  [{ LIMIT_BY_SOURCE: 'yes' }, /LIMIT_BY_SOURCE is `yes`/],
  [{ METRICS_PORT: '0' }, /METRICS_PORT is `0`/],
  [{ METRICS_HOST: '::' }, /without METRICS_PORT/],
  [{ STOP_DELAY_SECONDS: '5s' }, /STOP_DELAY_SECONDS is `5s`/],
  [{ STOP_DELAY_SECONDS: '301' }, /0 to 300/],
  [{ DATABASE_URL: 'mysql://x' }, /DATABASE_URL must begin with postgres/],
  [{ DATABASE_OWNER_URL: 'postgres://x' }, /without DATABASE_URL/],
  [{ PUBLIC_URL: 'localhost:8080' }, /PUBLIC_URL/],
  [{ OIDC_ISSUER: 'https://idp.example' }, /OIDC_ISSUER is set without OIDC_CLIENT_ID/],
  [{ OIDC_TENANT_CLAIM: 'tid' }, /OIDC_TENANT_CLAIM is set without OIDC_ISSUER/],
  [{ ...globalOidc, OIDC_CLIENT_SECRET: '' }, /without OIDC_CLIENT_SECRET/],
  [{ ...globalOidc, OIDC_ISSUER: 'idp.example' }, /OIDC_ISSUER is `idp.example`/],
  [{ ...globalOidc, OIDC_REDIRECT_URIS: 'https://a.example/cb,' }, /OIDC_REDIRECT_URIS is ``/],
  [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL is `loud`/],
]

for (const [env, sentence] of refused) {
  test(`refuses to start with ${JSON.stringify(env)}, in one sentence`, () => {
    assert.throws(() => readConfig(env), sentence)
  })
}

test('limits are on by default, and can be turned off', () => {
  const { rate_limit, limit_by_source } = readConfig({})
  assert.deepEqual([rate_limit, limit_by_source], [{ per_second: 100, burst: 1_000 }, true])
  const off = readConfig({ RATE_LIMIT_PER_SECOND: '0', LIMIT_BY_SOURCE: 'off' })
  assert.deepEqual([off.rate_limit, off.limit_by_source], [undefined, false])
})

test('does not repeat a database address, which may hold a password', () => {
  assert.throws(
    () => readConfig({ DATABASE_URL: 'mysql://me:hunter2@db/x' }),
    (error: Error) => !error.message.includes('hunter2'),
  )
})

test('metrics are served if their port is set, on the loopback address by default', () => {
  assert.equal(readConfig({}).metrics, undefined)
  assert.deepEqual(readConfig({ METRICS_PORT: '9464' }).metrics, { host: '127.0.0.1', port: 9464 })
  assert.deepEqual(readConfig({ METRICS_PORT: '9464', METRICS_HOST: '::' }).metrics, { host: '::', port: 9464 })
})

test('TRUST_PROXY accepts addresses and networks', () => {
  const { trust_proxy } = readConfig({ TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,fd00::/8' })
  assert.deepEqual(trust_proxy, ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
})
