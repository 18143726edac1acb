import { randomBytes } from 'node:crypto'
import { connectAlone } from '../db/client/connect.ts'
import { appRole, ensureDatabase, ownerRole, setUpRoles } from '../db/roles.ts'

const usage = `Creates the roles and the database that Sallyport needs on a PostgreSQL of your own, and prints two lines to start it with.

  npm run db:setup -- postgres://ADMIN:PASSWORD@HOST:5432/postgres [DATABASE]

ADMIN must be allowed to create roles and databases. The default of DATABASE is \`sallyport\`. Running it again gives the roles
new passwords and changes nothing else.`

/** Sets up the database and prints the environment to start with. */
async function setUp(adminUrl: string, database: string): Promise<void> {
  const admin = await connectAlone({ connectionString: adminUrl })
  try {
    await ensureDatabase(admin, database)
  } finally {
    await admin.end()
  }
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  const passwords = { owner: randomBytes(24).toString('base64url'), app: randomBytes(24).toString('base64url') }
  const inside = await connectAlone({ connectionString: url.href })
  try {
    await setUpRoles(inside, database, passwords)
  } finally {
    await inside.end()
  }
  const as = (role: string, password: string) => {
    url.username = role
    url.password = password
    return url.href
  }
  console.log(`DATABASE_URL=${as(appRole, passwords.app)}`)
  console.log(`DATABASE_OWNER_URL=${as(ownerRole, passwords.owner)}`)
  console.error(
    '\nSet both and start with `npm start`. The second one is for migrations; a start without it does not change the tables.',
  )
}

const [adminUrl, database = 'sallyport'] = process.argv.slice(2)
if (adminUrl === undefined || ['-h', '--help'].includes(adminUrl)) {
  console.log(usage)
  process.exitCode = adminUrl === undefined ? 1 : 0
} else {
  await setUp(adminUrl, database).catch((error: Error) => {
    console.error(`db:setup failed: ${error.message}`)
    process.exitCode = 1
  })
}
