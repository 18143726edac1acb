import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAuthority, type TestAuthority } from './certificates.ts'
import { freePort } from './free-port.ts'
import { until } from './wait.ts'

const program = process.env.SLAPD ?? '/usr/sbin/slapd'
const modules = '/usr/lib/ldap'
const schemas = '/etc/ldap/schema'

/** The reason to skip tests with an OpenLDAP server here; false: they run. */
export const skipSlapd = [program, modules, schemas].every((path) => existsSync(path))
  ? false
  : `there is no ${program} with its modules: install Debian's slapd, or name another with SLAPD`

export const suffix = 'dc=example,dc=com'
/** An account that reads all, and its password. */
export const reader = { bind_dn: `cn=reader,${suffix}`, bind_password: 'reader-password-of-the-tests' }
/** One that gets three entries of a search at most. */
export const limited = { bind_dn: `cn=limited,${suffix}`, bind_password: 'limited-password-of-the-tests' }
/** One that sees nothing of the people. */
export const blind = { bind_dn: `cn=blind,${suffix}`, bind_password: 'blind-password-of-the-tests' }

export type LdapServer = {
  host: string
  /** Plain LDAP, which StartTLS secures. */
  port: number
  /** LDAP over TLS. */
  tlsPort: number
  authority: TestAuthority
  /** The id of its process. */
  pid: number | undefined
  stop(): Promise<void>
}

/** An entry of LDIF; values that are not plain are written in base64. */
export function ldif(dn: string, attributes: Readonly<Record<string, string | readonly string[]>>): string {
  const lines = Object.entries(attributes).flatMap(([name, values]) =>
    [values].flat().map((value) => line(name, value)),
  )
  return `${[line('dn', dn), ...lines].join('\n')}\n\n`
}

function line(name: string, value: string): string {
  return `${name}:: ${Buffer.from(value).toString('base64')}`
}

/** The entries that each directory of the tests begins with. */
const root = [
  ldif(suffix, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' }),
  ...[reader, limited, blind].map(({ bind_dn, bind_password }) =>
    ldif(bind_dn, {
      objectClass: ['applicationProcess', 'simpleSecurityObject'],
      cn: bind_dn.slice(3).replace(/,.*/, ''),
      userPassword: bind_password,
    }),
  ),
  ldif(`ou=people,${suffix}`, { objectClass: 'organizationalUnit', ou: 'people' }),
  ldif(`ou=groups,${suffix}`, { objectClass: 'organizationalUnit', ou: 'groups' }),
].join('')

/**
 * Starts an OpenLDAP server with these entries below `suffix`, on free ports of the loopback interface, in a folder of its own. `access`: rules
 * of slapd.conf before the usual ones.
 */
export async function startLdapServer(entries: string, access: readonly string[] = []): Promise<LdapServer> {
  const authority = makeAuthority()
  if (authority === undefined) throw new Error('there is no openssl for the certificates of the directory')
  const home = await mkdtemp(join(tmpdir(), 'sallyport-ldap-'))
  // A copy: a profile of AppArmor would keep the installed program out of the folder.
  const own = join(home, 'slapd')
  await copyFile(program, own)
  await mkdir(join(home, 'data'))
  const files = {
    'ca.crt': authority.ca,
    'server.crt': authority.good.cert,
    'server.key': authority.good.key,
    'slapd.conf': configIn(home, access),
    'entries.ldif': root + entries,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text, { mode: 0o600 })
  const run = (...words: string[]) => spawn(own, words, { cwd: home, stdio: ['ignore', 'ignore', 'pipe'] })
  const adding = run('-Tadd', '-q', '-f', 'slapd.conf', '-l', 'entries.ldif')
  const said = adding.stderr.setEncoding('utf8').toArray()
  const [code] = await once(adding, 'exit')
  if (code !== 0) throw new Error(`slapd could not add the entries: ${(await said).join('')}`)

  const [port, tlsPort] = [await freePort(), await freePort()]
  const server = run('-d0', '-f', 'slapd.conf', '-h', `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`)
  server.stderr.resume()
  const ended = once(server, 'exit')
  await until('slapd answers', async () => {
    if (server.exitCode !== null) throw new Error(`slapd ended with ${server.exitCode} before it answered`)
    return answersAt(tlsPort)
  })
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    authority,
    pid: server.pid,
    async stop() {
      server.kill('SIGTERM')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function answersAt(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function configIn(home: string, access: readonly string[]): string {
  return `${['core', 'cosine', 'inetorgperson', 'nis'].map((name) => `include ${schemas}/${name}.schema`).join('\n')}
modulepath ${modules}
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile ${home}/slapd.pid
argsfile ${home}/slapd.args
TLSCACertificateFile ${home}/ca.crt
TLSCertificateFile ${home}/server.crt
TLSCertificateKeyFile ${home}/server.key
sizelimit 1000

database mdb
suffix ${suffix}
rootdn cn=admin,${suffix}
directory ${home}/data
maxsize 1073741824
dbnosync
index objectClass eq
limits dn.exact=${reader.bind_dn} size.soft=unlimited size.hard=unlimited size.prtotal=unlimited
limits dn.exact=${limited.bind_dn} size.soft=3 size.hard=3 size.prtotal=3
${access.map((rule) => `access to ${rule}\n`).join('')}access to attrs=userPassword by anonymous auth by * none
access to dn.subtree=ou=people,${suffix} by dn.exact=${blind.bind_dn} none by users read
access to * by users read
`
}
