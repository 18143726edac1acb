import pg from 'pg'
import { type Connect, connectOf } from '../connect.ts'
import type { Settings } from './postgresql-config.ts'

/** `needs_set_role`: the role has no effect in a session until it is set. */
type Access = { role: string; login: string; needs_set_role: boolean }

/** How a user reaches the server as their login. The password is theirs, and not known here. */
export function connectTo(settings: Settings, { role, login, needs_set_role }: Access): Connect {
  const { host, port, database } = settings
  const setRole = `set role ${pg.escapeIdentifier(role)};`
  return connectOf({
    kind: 'postgresql',
    summary: summaryOf(settings, needs_set_role),
    fields: [
      ['Host', host],
      ['Port', String(port)],
      ['Database', database],
      ['Login', login],
      ['Role', role],
      ['TLS', settings.tls === 'verify' ? `verify the certificate, against ${authorityOf(settings)}` : ''],
      ['After the sign-in', needs_set_role ? setRole : ''],
    ],
    commands: [
      { label: `psql${needsPsql16(settings) ? ', 16 or later' : ''}`, words: ['psql', conninfo(settings, login)] },
    ],
    files: filesOf(settings),
    postgresql: { host, port, database, login, role, ...(settings.makesLogins && { makes_credentials: true }) },
  })
}

function summaryOf({ managesLogins, makesLogins }: Settings, needs_set_role: boolean): string {
  if (makesLogins) {
    return 'Sign in to the server with the login that was made for this access, and with a password that Sallyport gives you for it: each new password ends the one before. At the end the login is dropped. The role works at once, without `set role`.'
  }
  const until = managesLogins ? ', which is enabled until the access ends' : ''
  const role = needs_set_role ? 'Set the role after the sign-in.' : 'The role works at once, without `set role`.'
  return `Sign in to the server with your own login${until}, and with your own password or other proof: Sallyport has none. ${role}`
}

/**
 * One argument for libpq, which takes `database` and a login as they are: not as options, and not as another connection string.
 */
function conninfo(settings: Settings, login: string): string {
  const { host, port, database, tls, ca } = settings
  const values = { host, port: String(port), dbname: database, user: login }
  const verified =
    tls === 'verify' ? { sslmode: 'verify-full', ...(ca === undefined && { sslrootcert: 'system' }) } : {}
  return Object.entries({ ...values, ...verified })
    .map(([name, value]) => `${name}=${quotedValue(value)}`)
    .join(' ')
}

function quotedValue(value: string): string {
  return /^[A-Za-z0-9_.:@%+/-]+$/.test(value) ? value : `'${value.replace(/[\\']/g, '\\$&')}'`
}

/** libpq knows the system's authorities by this name only since 16. */
function needsPsql16({ tls, ca }: Settings): boolean {
  return tls === 'verify' && ca === undefined
}

function authorityOf({ ca }: Settings): string {
  return ca === undefined ? 'the authorities that your system knows' : 'the authorities of `~/.postgresql/root.crt`'
}

/** The certificates that Sallyport itself trusts: psql reads them from this file. Many are too long to show. */
function filesOf({ tls, ca }: Settings): Connect['files'] {
  if (tls === 'off' || ca === undefined) return []
  const lines = ca
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return [{ label: 'the authorities of the server, for psql', path: '~/.postgresql/root.crt', lines }]
}
