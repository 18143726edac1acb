import { describeVersion } from '../config/version.ts'
import { type DatabaseFailure, failureOf } from '../db/client/failure.ts'
import type { FoundDatabase, FoundOnServer, FoundProcess } from '../db/found-on-server.ts'
import { appRole, ownerRole } from '../db/roles.ts'
import { sanitizeText } from '../kernel/foreign-text.ts'
import { duration } from '../kernel/plain-words.ts'
import type { SetupAct } from './setup-choice.ts'

/** The services of a server, as lines by which their operator recognizes them. */
export function describeServices({ roles, databases }: FoundOnServer): string {
  if (databases.length === 0) return `  the roles ${roles.join(', ')}, and no database that this user can see`
  return databases.flatMap((database) => [describe(database), ...database.processes.map(describeProcess)]).join('\n')
}

function describe({ name, migrations, connections }: FoundDatabase): string {
  const version =
    migrations === undefined
      ? 'no tables that this user may read'
      : `${migrations.count} migrations, the last one ${shown(migrations.last)}`
  return `  database ${shown(name)}: ${version}; connections now: ${connections}`
}

function describeProcess({ public_url, version, commit, host, seen_seconds_ago }: FoundProcess): string {
  const code = shown(describeVersion({ version, commit: commit ?? undefined }))
  return `    ${shown(public_url)}, version ${code}, on ${shown(host)}, seen ${duration(Math.max(1, seen_seconds_ago))} ago`
}

/** A service writes these texts: none of them controls the terminal. */
function shown(text: string): string {
  return sanitizeText(text, []) ?? '-'
}

const ownServer = 'For staging, use a PostgreSQL server of its own.'

/** Why nothing is done, and what to do. `database`: the one that was asked for. */
export function refusalOf(
  act: Extract<SetupAct, 'refuse' | 'incomplete' | 'nothing_to_keep'>,
  found: FoundOnServer,
  database: string,
): string {
  if (act === 'nothing_to_keep') {
    return 'Nothing was changed: this server has no roles of Sallyport whose passwords could be kept. Leave out --keep-passwords.'
  }
  if (act === 'incomplete') {
    return (
      `Nothing was changed: of the roles ${ownerRole} and ${appRole}, this server has only ${found.roles.join(', ')}, ` +
      'and a new role needs a password. Use --new-passwords.'
    )
  }
  return `Nothing was changed: this server has Sallyport already.

${describeServices(found)}

The roles ${ownerRole} and ${appRole} belong to the whole server, so every service above uses the same two passwords.
Run db:setup again with one of these:

  --keep-passwords  prepares the database ${shown(database)} for these roles, or repairs its grants, and changes no password.
                    Services with these passwords can open all of the databases.
  --new-passwords   prepares it and gives both roles new passwords. The services above need the new lines at once.

${ownServer}`
}

/** What the operator should know once the server is set up. `others`: the services there, besides that of the database itself. */
export function adviceFor(act: 'create' | 'keep' | 'replace', found: FoundOnServer, database: string): string {
  const start =
    'Set both and start with `npm start`. The second one is for migrations; a start without it does not change the tables.'
  const others = found.databases.filter(({ name }) => name !== database)
  if (act === 'create') return start
  if (act === 'keep') {
    const first = 'No password was changed: in place of PASSWORD, use those of the lines that db:setup printed first.'
    if (others.length === 0) return `${first}\n${start}`
    const names = others.map(({ name }) => shown(name)).join(', ')
    return `${first}\n${start}\n\nWarning: with these passwords, each service can open every one of these databases: ${shown(database)}, ${names}. ${ownServer}`
  }
  if (found.databases.length === 0) return `Both roles have new passwords.\n${start}`
  return `Both roles have new passwords: these services need the new lines, each with the name of its own database.

${describeServices(found)}

${start}`
}

const adminFaults: Readonly<Record<Exclude<DatabaseFailure, 'other'>, string>> = {
  no_answer: 'no PostgreSQL answers at this address. Check its host and port, and that it lets this machine in',
  credentials: 'PostgreSQL refuses this user or its password. Check both in the address',
  no_database: 'the database at the end of the address does not exist. End it with /postgres',
  forbidden:
    'PostgreSQL does not permit this user to do it. Use a superuser, or the administrator that ran db:setup first',
  read_only: 'this server is read-only. Use the address of the primary',
  disk_full: 'the disk of this server is full',
  no_more_connections: 'this server accepts no more connections',
  starting: 'this server is starting or stopping. Try again in a moment',
}

/** The sentence for an error of the server. It never repeats the address. */
export function explainFailure(error: unknown): string {
  const failure = failureOf(error)
  const { message, code } = error as { message?: string; code?: string }
  const cause = message || code || String(error)
  if (failure === 'other') return cause
  // The text of a socket's error names the host, which of a mistyped address can be a part of the password.
  return failure === 'no_answer' ? `${adminFaults[failure]} (${code ?? cause})` : `${adminFaults[failure]} (${cause})`
}

/** What a user lacks who is to set up a server; undefined if nothing. */
export function lackOf(
  user: { is_superuser: boolean; creates_roles: boolean; creates_databases: boolean },
  has_database: boolean,
): string | undefined {
  if (user.is_superuser) return undefined
  if (!user.creates_roles)
    return 'this user may not create roles: use a superuser, or a user with CREATEROLE and CREATEDB'
  if (!has_database && !user.creates_databases)
    return 'this user may not create databases: use a superuser, or a user with CREATEROLE and CREATEDB'
  return undefined
}
