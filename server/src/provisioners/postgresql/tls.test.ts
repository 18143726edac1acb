import assert from 'node:assert/strict'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { type Certificate, selfSigned } from '../../../test/support/certificates.ts'
import { configOf, inputOf, makeLogin, noTx, openingOf, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres } from '../../../test/support/target-postgres.ts'
import { until } from '../../../test/support/wait.ts'
import { postgresql } from './postgresql.ts'

const skip = selfSigned('DNS:localhost') === undefined && 'there is no openssl'

suite('with `tls` set to `verify`', { skip }, async () => {
  if (skip !== false) return
  const server = await startTargetPostgres(18)
  after(server.stop)
  await setUpByGuide(server)

  /** Makes the server present a certificate for this name, and returns the certificate. */
  async function show(name: string): Promise<Certificate> {
    const made = selfSigned(name)
    assert.ok(made !== undefined)
    const [row] = await server.asSuperuser<{ data: string }>(
      `select setting as data from pg_settings where name = 'data_directory'`,
    )
    const data = row?.data ?? ''
    const { uid, gid } = statSync(data)
    for (const [file, text] of [
      ['server.key', made.key],
      ['server.crt', made.cert],
    ] as const) {
      writeFileSync(join(data, file), text, { mode: 0o600 })
      chownSync(join(data, file), uid, gid)
    }
    await server.asSuperuser('alter system set ssl = on')
    await server.asSuperuser('select pg_reload_conf()')
    await until('the server accepts TLS', async () => {
      const rows = await server.asSuperuser<{ ssl: string }>('show ssl')
      return rows[0]?.ssl === 'on'
    })
    return made
  }

  const plan = async (more: Record<string, unknown>) => {
    const driver = postgresql.open(openingOf(configOf(server, { tls: 'verify', ...more })))
    const input = inputOf(await makeLogin(server, false))
    return driver.plan(noTx, input, new AbortController().signal).finally(() => driver.close())
  }
  const refused = (message: RegExp) => ({ name: 'TargetError', kind: 'transient', message })

  test('a server without TLS is refused', async () => {
    await assert.rejects(plan({}), refused(/does not speak TLS, and `tls` is not `off` .*does not support SSL/))
  })

  test('an untrusted certificate is refused', async () => {
    await show('DNS:localhost')
    await assert.rejects(plan({ host: 'localhost' }), refused(/self-signed certificate/))
  })

  test('a certificate in `ca` is accepted, but only for its own host name', async () => {
    const { cert: ca } = await show('DNS:localhost')
    assert.equal((await plan({ host: 'localhost', ca })).held, false)
    await assert.rejects(plan({ host: '127.0.0.1', ca }), refused(/altnames|IP/))
  })

  test('a certificate for an IP address is accepted, but only for that address', async () => {
    const { cert: ca } = await show('IP:127.0.0.1')
    assert.equal((await plan({ ca })).held, false)
    await assert.rejects(plan({ host: 'localhost', ca }), refused(/altnames/))
  })

  test('`ca` is shown while it holds only certificates, and refused with a key in it', async () => {
    const { cert: ca, key } = await show('DNS:localhost')
    assert.equal(postgresql.shownFields.ca?.shows(ca), true)
    assert.equal(postgresql.shownFields.ca?.shows(`${ca}${key}`), false)
    const faults = await postgresql.findFaults(configOf(server, { ca: `${ca}${key}` }), openingOf({}).egress)
    assert.deepEqual(
      faults.map(({ pointer }) => pointer),
      ['/config/ca'],
    )
  })
})
