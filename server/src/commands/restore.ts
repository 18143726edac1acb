import { restoreBackup } from '../backup/restore.ts'
import { openAsItIs } from '../embedded-postgres/open-database.ts'
import { runFileCommand } from './file-command.ts'

const usage = `Reads a file of \`npm run backup\` into a database that holds no tenant yet: all of it, or nothing.

  npm run restore -- FILE

It fills the database of DATABASE_URL, for which it also needs DATABASE_OWNER_URL (\`npm run db:setup\` prints both), else
the embedded one in DATA_DIR, which it creates. Do not start the service on it first: a start creates a first tenant.

The root key is NOT in the file: set the same SECRET_KEY, or put the same \`secret.key\` into DATA_DIR, before you start.
Afterwards Sallyport changes nothing at targets, since the service that was backed up may still run, and has done more since. Stop that one
permanently, then type \`npm run admin -- adopt\`.`

await runFileCommand(
  {
    name: 'restore',
    usage,
    run: async (config, file, { log, ...work }) => {
      const { service, owner, stop } = await openAsItIs(config, log, true)
      try {
        if (owner === undefined) {
          throw new Error(
            'set DATABASE_OWNER_URL in addition to DATABASE_URL: their owner creates the tables ' +
              '(the second line that `npm run db:setup` printed)',
          )
        }
        const { tenants, rows } = await restoreBackup({ service, owner }, file, work)
        const key =
          config.secret_key === undefined ? `put it into \`${config.data_dir}/secret.key\`` : 'set SECRET_KEY to it'
        return (
          `restored \`${file}\`: tenants ${tenants}, rows ${rows}. The root key was not in it: ${key} before you start. ` +
          'Nothing is changed at targets until you type `npm run admin -- adopt`'
        )
      } finally {
        await stop()
      }
    },
  },
  process.argv.slice(2),
)
