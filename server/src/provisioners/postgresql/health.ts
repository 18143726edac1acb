import { type Check, TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { nameOfServer, type Settings } from './postgresql-config.ts'
import { findLoginFault, findMakingFault, findOwnFault, findRoleFault } from './role-rules.ts'
import { mayEndConnections, mayMakeRoles, readLogin, readRole } from './server-roles.ts'
import type { SessionAccess } from './sessions.ts'

/** The oldest tested version. */
const minVersion = 150_000

/** Checks everything that giving and removing access needs. */
export async function checkHealth({ connections, signal }: SessionAccess, settings: Settings): Promise<Check[]> {
  const server: Check = { what: `the server ${nameOfServer(settings)}`, ok: true, message: null }
  try {
    const checks = await connections.use({ signal, ahead: true }, (leased) => checkInside(leased, settings))
    return [server, ...checks]
  } catch (error) {
    if (!(error instanceof TargetError)) throw error
    return [{ ...server, ok: false, message: error.message }]
  }
}

async function checkInside(leased: LeasedConnection, settings: Settings): Promise<Check[]> {
  const { version, me } = leased.facts
  const release = Math.floor(version / 10_000)
  const checks = [
    check(
      'its version',
      version >= minVersion
        ? undefined
        : `it is PostgreSQL ${release}; upgrade to PostgreSQL ${minVersion / 10_000} or later`,
    ),
    check(`the role \`${me}\` that Sallyport signs in as`, findOwnFault(leased.facts)),
    ...(await checkMaking(leased, settings)),
    check(
      "ending people's connections",
      (await mayEndConnections(leased.query))
        ? undefined
        : `\`${me}\` may not end them: run \`grant pg_signal_backend to "${me}"\``,
    ),
  ]
  for (const [action, name] of settings.roles) {
    const why = findRoleFault(name, await readRole(leased, name), me)
    checks.push(check(`the role \`${name}\` of the action \`${action}\``, why))
  }
  for (const [email, name] of settings.logins) {
    const why = findLoginFault(name, await readLogin(leased, name), settings.managesLogins, me)
    checks.push(check(`the login \`${name}\` of \`${email}\``, why))
  }
  return checks
}

/** What making and dropping logins needs; nothing where logins are not made. */
async function checkMaking(leased: LeasedConnection, settings: Settings): Promise<Check[]> {
  if (!settings.makesLogins) return []
  const { facts, query } = leased
  return [check('making logins', findMakingFault(facts, await mayMakeRoles(query)))]
}

function check(what: string, why: string | undefined): Check {
  return { what, ok: why === undefined, message: why ?? null }
}
