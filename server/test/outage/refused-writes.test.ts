import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { dataFolder } from '../support/data-folder.ts'
import { readExposition } from '../support/exposition.ts'
import { freePort } from '../support/free-port.ts'
import { setupLines, startPasswordServer } from '../support/password-server.ts'
import { startOn, startScript } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

const { adminUrl, password: adminPassword } = await startPasswordServer()
const setup = startScript('db:setup', [adminUrl], {})
assert.equal(await setup.end(), 0, setup.output())
const lines = setupLines(setup.output())

const METRICS_PORT = `${await freePort()}`
const sallyport = await startOn(lines, await dataFolder(), { METRICS_PORT, LOG_LEVEL: 'info' })
const call = sallyport.client({ api_key: sallyport.bootstrap.api_key })

async function asSuperuser(...texts: string[]): Promise<void> {
  const client = await connectAlone({ connectionString: adminUrl.replace(/postgres$/, 'sallyport') })
  for (const text of texts) await client.query(text)
  await client.end()
}

/** Connections that are open go on as they began. */
const endConnections = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'sallyport_app'`

async function readiness(): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${sallyport.base_url}/readyz`)
  return { status: reply.status, text: await reply.text() }
}

async function metric(name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()
  return readExposition(text).get(name)?.samples[0]?.value
}

const newPolicy = (name: string) => call('POST', '/v1/policies', { name })

const password = new URL(lines.DATABASE_URL).password
const causes = [
  {
    what: 'a changed password',
    begin: [`alter role sallyport_app password 'another-secret'`, endConnections],
    end: [`alter role sallyport_app password '${password}'`],
    sentence: 'the database refuses the credentials of the service',
    cause: /password authentication failed/,
    reads: 503,
    up: 0,
  },
  {
    what: 'a server that only reads',
    begin: ['alter database sallyport set default_transaction_read_only = on', endConnections],
    end: ['set default_transaction_read_only = off', 'alter database sallyport reset default_transaction_read_only'],
    sentence: 'the database is read-only, as a standby is',
    cause: /in a read-only transaction/,
    reads: 200,
    up: 1,
  },
  {
    what: 'a role that may not connect',
    begin: ['revoke connect on database sallyport from sallyport_app', endConnections],
    end: ['grant connect on database sallyport to sallyport_app'],
    sentence: 'the database refuses the service a right that it needs',
    cause: /permission denied for database/,
    reads: 503,
    up: 0,
  },
  {
    // As PostgreSQL reports it; `disk-full.long.test.ts` fills a real one.
    what: 'a full disk',
    begin: [
      `create function full_disk() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
      'create trigger full_disk before insert or update on process execute function full_disk()',
      'create trigger full_disk before insert or update on policy execute function full_disk()',
    ],
    end: ['drop function full_disk() cascade'],
    sentence: 'the disk of the database is full',
    cause: /No space left on device/,
    reads: 200,
    up: 1,
  },
]

for (const { what, begin, end, sentence, cause, reads, up } of causes) {
  test(`${what} makes the process unready, and its writes 503; both end with it`, async () => {
    const linesBefore = sallyport.output().length
    await asSuperuser(...begin)
    const answer = await until('it is not ready', async () => {
      const found = await readiness()
      return found.status !== 200 && found.text.includes(sentence) && found
    })
    assert.deepEqual([answer.status, JSON.parse(answer.text).code], [503, 'unavailable'])
    const written = await newPolicy(what)
    assert.deepEqual([written.status, (written.body as { code?: string }).code], [503, 'unavailable'])
    assert.equal((await call('GET', '/v1/policies')).status, reads)
    assert.deepEqual([await metric('sallyport_database_writable'), await metric('sallyport_database_up')], [0, up])

    await asSuperuser(...end)
    // Connections that were opened meanwhile go on as they began.
    await asSuperuser(endConnections)
    await until('it is ready', async () => (await readiness()).status === 200)
    await until('writes succeed', async () => (await newPolicy(`${what}, again`)).status === 201)
    const log = sallyport.output().slice(linesBefore)
    assert.match(log, new RegExp(`"msg":"not ready, because ${sentence}`))
    assert.match(log, /"msg":"the database takes writes again, after \d+ s"/)
    for (const secret of [password, adminPassword, 'another-secret']) {
      assert.ok(!log.includes(secret) && !answer.text.includes(secret), 'a password is shown')
    }
    assert.match(log, cause)
    assert.doesNotMatch(log, /"status":500/)
  })
}
