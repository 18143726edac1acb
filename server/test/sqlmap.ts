import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { openHouse } from './support/house.ts'
import { rawStatement } from './support/raw-statement.ts'

/**
 * `npm run test:sqlmap`: runs sqlmap at its most thorough on every endpoint that searches for or stores a text, and on a
 * planted flaw that it must find. Takes minutes and needs sqlmap (`pip install sqlmap`); not part of `npm test`. Arguments
 * choose among the targets: `npm run test:sqlmap -- groups planted`.
 */
const run = promisify(execFile)
const house = await openHouse()
const { tenant_id, owner } = await house.tenant('sqlmap')

/** The planted flaw: it listens beside the service, on the same database. */
house.app.server.get('/planted', async (request) => {
  const { q } = request.query as { q: string }
  const text = `select key from setting where tenant_id = '${tenant_id}' and value = '${q}'`
  return { data: await house.database.tenant(tenant_id).read(rawStatement(text)) }
})
const address = await house.app.server.listen({ host: '127.0.0.1', port: 0 })

const folder = await mkdtemp(join(tmpdir(), 'sallyport-sqlmap-'))
after(() => rm(folder, { recursive: true, force: true }))

type Target = { method?: string; path: string; body?: object }

/** A star marks where sqlmap puts its texts. */
const targets: Record<string, Target> = {
  planted: { path: '/planted?q=x*' },
  'api-keys': { path: '/v1/api-keys?identity_provider_id=x*' },
  groups: { path: '/v1/groups?source=local*' },
  accounts: { path: '/v1/cloud/accounts?q=a*' },
  requests: { path: '/v1/requests?resource_id=123456789012*' },
  events: { path: '/v1/audit-events?subject=a*' },
  cursor: { path: '/v1/groups?cursor=a*' },
  role: { path: '/v1/roles/admin*' },
  setting: { method: 'PUT', path: '/v1/settings/locale.default*', body: { value: 'en' } },
  'setting-value': { method: 'PUT', path: '/v1/settings/locale.default', body: { value: 'en*' } },
  'group-name': { method: 'POST', path: '/v1/groups', body: { name: 'a*' } },
  'request-reason': {
    ...{ method: 'POST', path: '/v1/requests' },
    body: { resource: { type: 'cloud_account', id: '123456789012' }, action: 'a', reason: 'a*' },
  },
}

const options = [
  ...['--batch', '--flush-session', '--level=5', '--risk=3', '--dbms=PostgreSQL', '--threads=4'],
  // Not by time: on a busy machine durations prove nothing.
  ...['--technique=BEUQ', '--ignore-code=*', `--output-dir=${folder}`, '--disable-coloring'],
]

async function findInjections({ method = 'GET', path, body }: Target): Promise<string> {
  const headers = [`X-API-Key: ${owner.api_key}`, `X-Tenant-ID: ${tenant_id}`, 'Content-Type: application/json']
  const target = [`--url=${address}${path}`, `--method=${method}`, `--headers=${headers.join('\n')}`]
  const data = body === undefined ? [] : [`--data=${JSON.stringify(body)}`]
  const { stdout } = await run('sqlmap', [...target, ...data, ...options], { maxBuffer: 2 ** 28 })
  return stdout
}

const wanted = process.argv.slice(2)
for (const [name, target] of Object.entries(targets)) {
  test(`sqlmap finds ${name === 'planted' ? 'the flaw that is planted' : `nothing at ${target.path}`} (J6)`, {
    skip: wanted.length > 0 && !wanted.includes(name),
  }, async () => {
    const output = await findInjections(target)
    const found = /Parameter: .*\n\s+Type: /.test(output)
    assert.ok(found || /do(?:es)? not (?:appear|seem) to be injectable|not injectable/.test(output), output)
    assert.equal(found, name === 'planted', output)
  })
}
