import { writeBackup } from '../backup/backup.ts'
import { openAsItIs } from '../embedded-postgres/open-database.ts'
import { runFileCommand } from './file-command.ts'

const usage = `Writes all tenants into one new file, as they are at one moment. The service may run meanwhile.

  npm run backup -- FILE

It reads the database of DATABASE_URL, else the embedded one in DATA_DIR, running or not, and migrates nothing.
\`npm run restore\` reads the file into an empty database, the embedded one or your own, of any version of PostgreSQL that
Sallyport supports. Only you can read the file (mode 0600): it has names, addresses and password hashes.

The root key is NOT in the file: keep SECRET_KEY, or \`secret.key\` of DATA_DIR, in another place. Sallyport does not start on
a restored database without the same key.`

await runFileCommand(
  {
    name: 'backup',
    usage,
    run: async (config, file, { log, ...work }) => {
      const opened = await openAsItIs(config, log, false)
      try {
        const { tenants, rows } = await writeBackup(opened.service, file, work)
        const key = config.secret_key === undefined ? `\`${config.data_dir}/secret.key\`` : 'SECRET_KEY'
        return `wrote \`${file}\`: tenants ${tenants}, rows ${rows}. The root key is not in it: keep ${key} in another place`
      } finally {
        await opened.stop()
      }
    },
  },
  process.argv.slice(2),
)
