import { randomBytes } from 'node:crypto'
import { type ConnectionTarget, connectAlone, type SingleConnection } from '../db/client/connect.ts'
import { findOnServer } from '../db/found-on-server.ts'
import { appRole, dropNewDatabase, ensureDatabase, ownerRole, setUpRoles } from '../db/roles.ts'
import { chooseSetup, readSetupArguments, type SetupArguments } from './setup-choice.ts'
import { adviceFor, explainFailure, lackOf, refusalOf } from './setup-report.ts'

const usage = `Creates the roles and the database that Sallyport needs on a PostgreSQL of your own, and prints two lines to start it with.

  npm run db:setup -- [OPTION] postgres://ADMIN:PASSWORD@HOST:5432/postgres [DATABASE]

ADMIN must be allowed to create roles and databases. The default of DATABASE is \`sallyport\`.

The roles belong to the whole server, and so do their passwords. If the server has them already, the command changes nothing
and says which services it found, unless you choose:

  --keep-passwords  create DATABASE for the roles that are there, or repair its grants; no password changes
  --new-passwords   the same, and give both roles new passwords: running services then need the new lines

Services that share the roles can open each other's databases. For staging, use a PostgreSQL server of its own.`

/** Sets up the database and prints the environment to start with, or throws a sentence. */
async function setUp({ admin_url, database, passwords: choice }: SetupArguments): Promise<void> {
  const on = (name: string) => ({ connectionString: withDatabase(admin_url, name) })
  const admin = await connectAlone({ connectionString: admin_url })
  try {
    const found = await findOnServer(admin, on)
    const act = chooseSetup(found, choice)
    if (act !== 'create' && act !== 'keep' && act !== 'replace') throw new Error(refusalOf(act, found, database))
    await requireRights(admin, database)
    const isNew = await ensureDatabase(admin, database)
    const made = () => randomBytes(24).toString('base64url')
    const passwords = act === 'keep' ? undefined : { owner: made(), app: made() }
    await prepare(on(database), database, passwords).catch(async (error: unknown) => {
      if (isNew) await dropNewDatabase(admin, database)
      throw error
    })
    const as = (role: string, password = 'PASSWORD') => withRole(withDatabase(admin_url, database), role, password)
    console.log(`DATABASE_URL=${as(appRole, passwords?.app)}`)
    console.log(`DATABASE_OWNER_URL=${as(ownerRole, passwords?.owner)}`)
    console.error(`\n${adviceFor(act, found, database)}`)
  } finally {
    await admin.end()
  }
}

async function prepare(target: ConnectionTarget, database: string, passwords: Parameters<typeof setUpRoles>[2]) {
  const inside = await connectAlone(target)
  try {
    await setUpRoles(inside, database, passwords)
  } finally {
    await inside.end()
  }
}

/** Before anything is changed. */
async function requireRights(admin: SingleConnection, database: string): Promise<void> {
  const { rows } = await admin.query<Parameters<typeof lackOf>[0] & { has_database: boolean }>(
    `select rolsuper as is_superuser, rolcreaterole as creates_roles, rolcreatedb as creates_databases,
        exists (select from pg_database where datname = $1) as has_database
      from pg_roles where rolname = current_user`,
    [database],
  )
  const [user] = rows
  const lack = user && lackOf(user, user.has_database)
  if (lack !== undefined) throw new Error(lack)
}

function withDatabase(address: string, name: string): string {
  const url = new URL(address)
  url.pathname = `/${encodeURIComponent(name)}`
  return url.href
}

/** As text: a URL without a host, as for a socket, takes no user. */
function withRole(address: string, role: string, password: string): string {
  const { host, pathname, search } = new URL(address)
  return `postgres://${role}:${password}@${host}${pathname}${search}`
}

const read = readSetupArguments(process.argv.slice(2))
if ('help' in read) {
  console.log(usage)
} else if ('fault' in read) {
  console.error(`db:setup failed: ${read.fault}`)
  process.exitCode = 1
} else {
  await setUp(read).catch((error: unknown) => {
    console.error(`db:setup failed: ${explainFailure(error)}`)
    process.exitCode = 1
  })
}
