import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { askOf, configOf, makeLogin, noTx, openingOf, setUpByGuide } from '../../../test/support/postgresql-stage.ts'
import { startTargetPostgres } from '../../../test/support/target-postgres.ts'
import { until } from '../../../test/support/wait.ts'
import { postgresql } from './postgresql.ts'

const folder = mkdtempSync(join(tmpdir(), 'sallyport-certificates-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Makes a certificate of its own for a name. Undefined where this machine has no openssl. */
function certificate(file: string, name: string): string | undefined {
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=sallyport -addext subjectAltName=${name}`
  const out = ['-keyout', join(folder, `${file}.key`), '-out', join(folder, `${file}.crt`)]
  try {
    execFileSync('openssl', [...words.split(' '), ...out], { stdio: 'ignore' })
    return readFileSync(join(folder, `${file}.crt`), 'utf8')
  } catch {
    return undefined
  }
}

const skip = certificate('trial', 'DNS:localhost') === undefined && 'there is no openssl'

suite('where the server must prove who it is', { skip }, async () => {
  if (skip !== false) return
  const server = await startTargetPostgres(18)
  after(server.stop)
  await setUpByGuide(server)

  /** Has the server show a certificate for this name; answers the certificate. */
  async function show(name: string): Promise<string> {
    const made = certificate('server', name) ?? ''
    const [row] = await server.asSuperuser<{ data: string }>(
      `select setting as data from pg_settings where name = 'data_directory'`,
    )
    const data = row?.data ?? ''
    for (const kind of ['key', 'crt']) {
      const path = join(data, `server.${kind}`)
      copyFileSync(join(folder, `server.${kind}`), path)
      const { uid, gid } = statSync(data)
      chownSync(path, uid, gid)
    }
    await server.asSuperuser('alter system set ssl = on')
    await server.asSuperuser('select pg_reload_conf()')
    await until('it takes TLS', async () => {
      const rows = await server.asSuperuser<{ ssl: string }>('show ssl')
      return rows[0]?.ssl === 'on'
    })
    return made
  }

  const plan = async (more: Record<string, unknown>) => {
    const driver = postgresql.open(openingOf(configOf(server, { tls: 'verify', ...more })))
    const ask = askOf(await makeLogin(server, false))
    return driver.plan(noTx, ask, new AbortController().signal).finally(() => driver.close())
  }
  const refused = (message: RegExp) => ({ name: 'TargetError', kind: 'transient', message })

  test('one that speaks no TLS is sent no password', async () => {
    await assert.rejects(plan({}), refused(/does not support SSL/))
  })

  test('a certificate that nobody vouches for is refused', async () => {
    await show('DNS:localhost')
    await assert.rejects(plan({ host: 'localhost' }), refused(/self-signed certificate/))
  })

  test('a certificate that the config vouches for is taken, for the name that it is for', async () => {
    const ca = await show('DNS:localhost')
    assert.equal((await plan({ host: 'localhost', ca })).held, false)
    await assert.rejects(plan({ host: '127.0.0.1', ca }), refused(/altnames|IP/))
  })

  test('a certificate for an address is taken for that address', async () => {
    const ca = await show('IP:127.0.0.1')
    assert.equal((await plan({ ca })).held, false)
    await assert.rejects(plan({ host: 'localhost', ca }), refused(/altnames/))
  })

  test('certificates are shown, and nothing else that came with them', async () => {
    const ca = await show('DNS:localhost')
    assert.equal(postgresql.shownFields.ca?.shows(ca), true)
    const key = readFileSync(join(folder, 'server.key'), 'utf8')
    assert.equal(postgresql.shownFields.ca?.shows(`${ca}${key}`), false)
    const faults = await postgresql.findFaults(configOf(server, { ca: `${ca}${key}` }), openingOf({}).egress)
    assert.deepEqual(
      faults.map(({ pointer }) => pointer),
      ['/config/ca'],
    )
  })
})
