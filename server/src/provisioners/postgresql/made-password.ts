import pg from 'pg'
import { type Credentials, TargetError } from '../driver.ts'
import type { LeasedConnection } from './connections.ts'
import { begin, type HeldRole, requireSameGiver } from './held-role.ts'
import { findMade } from './made-login.ts'
import type { Settings } from './postgresql-config.ts'
import { newPassword, verifierOf } from './scram-verifier.ts'
import type { SessionAccess } from './sessions.ts'

/** Two calls at once change one row: the server refuses the later one, which is then tried again. */
const maxTries = 8

/** Gives the login a new password, and ends the one before. @throws TargetError permanent when the login gives no access */
export async function setPassword(
  { connections, signal }: SessionAccess,
  settings: Settings,
  held: HeldRole,
): Promise<Credentials> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await connections.use({ signal, ahead: true }, (leased) => setOnce(leased, settings, held))
    } catch (error) {
      if (tries === maxTries || !(error instanceof TargetError && error.message.includes('concurrently updated')))
        throw error
    }
  }
}

/**
 * INVARIANT: only a login that can sign in gets a password. The end disables it first, and only giving enables it: so a password that comes
 * late is one of a login that cannot sign in.
 */
async function setOnce(leased: LeasedConnection, settings: Settings, held: HeldRole): Promise<Credentials> {
  const { query, facts } = leased
  requireSameGiver(held, settings, facts)
  await query(begin)
  const login = (await findMade(leased, held.login)).find(({ can_login }) => can_login)
  if (!held.made || login === undefined) {
    throw new TargetError('permanent', `the server has no login \`${held.login}\` any more that can sign in`)
  }
  const password = newPassword()
  const verifier = pg.escapeLiteral(await verifierOf(password))
  await query(`alter role ${pg.escapeIdentifier(login.name)} password ${verifier}`)
  await query('commit')
  return { user: login.name, password }
}
