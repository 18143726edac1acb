import { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { describeVersion, readVersion } from '../config/version.ts'
import { type Database, openDatabase } from '../db/transaction.ts'
import { type OpenedDatabase, openForOperator } from '../embedded-postgres/open-database.ts'
import { tryMail } from '../mail/try-mail.ts'
import { issueKey, resetOwner } from '../tenants/operator.flow.ts'
import { readDuration, signInHint } from '../tenants/tenant.ts'
import { addAdoptCommand } from './adopt.ts'
import { addBootstrapCommands } from './bootstrap.ts'
import { addEventCommands } from './events.ts'
import { addMailDomainCommands } from './mail-domain.ts'
import { columns, type Output, once } from './output.ts'
import { withPauses } from './pause.ts'
import { addReplayUpgradeCommand } from './replay-upgrade.ts'
import { type KeysToRotate, rotateKeys } from './rotate-keys.ts'
import { addSetupLinkCommand } from './setup-link.ts'
import { addSlugCommands } from './slug.ts'
import { addTenantCommands } from './tenant.ts'

type Open = typeof openForOperator
type Work<Result> = (database: Database, opened: OpenedDatabase) => Promise<Result>

const config = readConfigOrExit()

const examples = `
Examples:
  $ npm run admin -- tenant create "Acme" --owner anna@acme.example --name "Anna O"
  $ npm run admin -- tenant list
  $ npm run admin -- tenant show acme
  $ npm run admin -- tenant suspend acme --reason "the contract ended"
  $ npm run admin -- tenant export acme acme.export
  $ npm run admin -- owner reset anna@acme.example
  $ npm run admin -- key issue --tenant acme --user anna@acme.example --name ci --scopes requests:read,grants:read
  $ npm run admin -- slug set 0197… acme
  $ npm run admin -- mail-domain add acme acme.example
  $ npm run admin -- setup-link
  $ npm run admin -- bootstrap done
  $ npm run admin -- bootstrap again anna@acme.example
  $ npm run admin -- rotate-keys --check
  $ npm run admin -- replay-upgrade --days 90
  $ npm run admin -- adopt

The commands use the database of DATABASE_URL, else the embedded one in DATA_DIR. The service may be running or not.
If you cannot sign in any more, \`owner reset EMAIL\` gives an owner a new password.`

const program = new Command('npm run admin --')
  .description(
    'Commands for the operator of Sallyport. They work directly on its database. The audit log records each act.',
  )
  .option('--json', 'print JSON, for scripts')
  .version(describeVersion(readVersion()), '--version', 'print the version and the commit')
  .helpCommand(false)
  .showSuggestionAfterError()
  .addHelpText('after', examples)

addTenantCommands(program, config, answer)

program
  .command('owner')
  .description('owners of tenants')
  .helpCommand(false)
  .command('reset')
  .description('give an owner a new password; prints it once')
  .argument('<email>', "the owner's address")
  .option('--tenant <tenant>', 'the id or the slug of the tenant, if the address owns several')
  .action((email: string, options: { tenant?: string }) =>
    answer(async (database) => {
      const reset = await resetOwner(database, { email, tenant_id: options.tenant })
      const rows = [
        ['tenant', reset.tenant_id],
        ['owner', reset.email],
        ['password', reset.password],
      ]
      const hint = signInHint(reset)
      return { text: columns(rows) + once + (hint === undefined ? '' : `\n\n${hint}`), data: reset }
    }),
  )

program
  .command('key')
  .description('API keys')
  .helpCommand(false)
  .command('issue')
  .description('create an API key that acts for a user; prints it once')
  .requiredOption('--tenant <tenant>', 'the id or the slug of the tenant')
  .requiredOption('--user <email>', 'the user for whom the key acts, and whose rights limit it')
  .requiredOption('--name <name>', 'the name or purpose of the key')
  .requiredOption('--scopes <scopes>', 'comma-separated, or `all` scopes of the user')
  .option('--expires-in <time>', 'such as 30m, 12h, 7d, or `never`', '7d')
  .action((options: { tenant: string; user: string; name: string; scopes: string; expiresIn: string }) =>
    answer(async (database) => {
      const made = await issueKey(database, {
        tenant_id: options.tenant,
        email: options.user,
        name: options.name,
        scopes: options.scopes === 'all' ? 'all' : options.scopes.split(',').map((scope) => scope.trim()),
        expires_in: readExpiry(options.expiresIn),
      })
      const rows = [
        ['id', made.id],
        ['key', made.key],
        ['scopes', made.scopes.join(',')],
        ['expires', made.expires_at ?? 'never'],
      ]
      return { text: columns(rows) + once, data: made }
    }),
  )

addSlugCommands(program, answer)
addMailDomainCommands(program, config, answer)
addEventCommands(program, answer)

program
  .command('mail-test')
  .description('send one mail by SMTP_URL, from MAIL_FROM; prints the answer of the mail server')
  .argument('<address>', 'the address of the recipient')
  .action((address: string) =>
    tryMail(config, address).then(
      (said) =>
        print({ text: `the mail server accepted the mail: ${said ?? 'without a message'}`, data: { address, said } }),
      fail,
    ),
  )

program
  .command('rotate-keys')
  .description('move all sealed data to the first root key; services may run meanwhile; docs/guides/keys.md says when')
  .option('--check', 'change nothing; show which root keys are needed')
  .option('--new-root', 'make a new root key, the first in secret.key, and nothing else')
  .option('--data-keys', 'also give each tenant a new data key, and seal all of its secrets again')
  .option('--token-key', 'make a new key for tokens, and nothing else; each old key ends with its last token')
  .option(
    '--end-tokens',
    'with --token-key: the old keys and all sessions end, so that all users have to sign in again; takes a minute',
  )
  .action((options: KeysToRotate) =>
    answer((database) => rotateKeys(config, database, options, { log: console.error, withPauses })),
  )

addBootstrapCommands(program, config, answer)
addSetupLinkCommand(program, config, answer)
addReplayUpgradeCommand(program, answer)
addAdoptCommand(program, answer)

await program.parseAsync()

/** Runs the work on the operator's database and prints its output; an error is one line and exit code 1. */
async function answer(work: Work<Output>, open?: Open): Promise<void> {
  try {
    print(await withDatabase(work, open))
  } catch (error) {
    fail(error)
  }
}

function print({ text, data }: Output): void {
  console.log(program.opts<{ json?: boolean }>().json ? JSON.stringify(data, null, 2) : text)
}

async function withDatabase<Result>(work: Work<Result>, open: Open = openForOperator): Promise<Result> {
  const opened = await open(config, (message) => console.error(message))
  try {
    const database = openDatabase(opened.service, { writes: 1, long: 1 })
    try {
      return await work(database, opened)
    } finally {
      await database.close()
    }
  } finally {
    await opened.stop()
  }
}

function fail(error: unknown): void {
  // JSON pointers into a body mean nothing on a command line.
  const text = error instanceof Error ? error.message.replaceAll(/`\/(\w+)`/g, 'the $1') : String(error)
  console.error(`error: ${text}`)
  process.exitCode = 1
}

function readConfigOrExit() {
  try {
    return readConfig()
  } catch (error) {
    fail(error)
    process.exit(1)
  }
}

function readExpiry(text: string): number | null {
  if (text === 'never') return null
  const seconds = readDuration(text)
  if (seconds === undefined) throw new Error(`--expires-in is \`${text}\`; write it like 30m, 12h or 7d, or \`never\``)
  return seconds
}
