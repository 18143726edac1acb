import type { FoundOnServer } from '../db/found-on-server.ts'
import { appRole, ownerRole } from '../db/roles.ts'

/** What happens to the passwords of the roles, which belong to the whole server. */
export type PasswordChoice = 'keep' | 'new' | undefined

export type SetupArguments = { admin_url: string; database: string; passwords: PasswordChoice }

/** `help`: what was asked for. `fault`: a sentence for the operator; it repeats no address, which may contain a password. */
export type ReadArguments = SetupArguments | { help: true } | { fault: string }

const options: Readonly<Record<string, PasswordChoice>> = { '--keep-passwords': 'keep', '--new-passwords': 'new' }

/** Reads the command line of `db:setup`. */
export function readSetupArguments(args: readonly string[]): ReadArguments {
  if (args.includes('--help') || args.includes('-h')) return { help: true }
  const given = args.filter((arg) => arg.startsWith('-'))
  const unknown = given.find((arg) => !Object.hasOwn(options, arg))
  if (unknown !== undefined)
    return { fault: `unknown option \`${unknown.split('=', 1)[0]}\`; --help lists the options` }
  const chosen = new Set(given.map((arg) => options[arg]))
  if (chosen.size > 1) return { fault: 'choose one of --keep-passwords and --new-passwords' }
  const [admin_url, database = 'sallyport', ...more] = args.filter((arg) => !arg.startsWith('-'))
  if (admin_url === undefined)
    return { fault: 'the address of the PostgreSQL server is missing; --help shows how to write it' }
  if (more.length > 0 || database === '')
    return { fault: 'give one address and one name of a database; --help shows how' }
  if (!/^postgres(?:ql)?:\/\//.test(admin_url) || URL.parse(admin_url) === null) {
    return {
      fault:
        'the first argument is no address of a PostgreSQL: write postgres://ADMIN:PASSWORD@HOST:5432/postgres, ' +
        'with special characters of the password as in a URL (`/` as %2F)',
    }
  }
  return { admin_url, database, passwords: [...chosen][0] }
}

/** What `db:setup` does. `refuse`: nothing, because of services that the server has; `incomplete`: nothing, because a role is missing. */
export type SetupAct = 'create' | 'keep' | 'replace' | 'refuse' | 'incomplete' | 'nothing_to_keep'

/** Decides by the roles that the server has: passwords are never replaced without being asked to. */
export function chooseSetup({ roles }: Pick<FoundOnServer, 'roles'>, passwords: PasswordChoice): SetupAct {
  if (roles.length === 0) return passwords === 'keep' ? 'nothing_to_keep' : 'create'
  if (passwords === 'new') return 'replace'
  if (passwords === undefined) return 'refuse'
  // A role that is made without a password could not sign in.
  return [ownerRole, appRole].every((role) => roles.includes(role)) ? 'keep' : 'incomplete'
}
