import {
  type Driver,
  type DriverType,
  type Opening,
  type Plan,
  type PlanInput,
  type Progress,
  TargetError,
} from '../driver.ts'
import { connectTo } from './connect.ts'
import { type Connections, openConnections } from './connections.ts'
import { discover } from './discover.ts'
import { discoverMade } from './discover-made.ts'
import { checkHealth } from './health.ts'
import {
  check,
  disableLogin,
  give,
  type HeldRole,
  keyOf,
  type Login,
  readHeldRole,
  requireSameGiver,
  resolveRole,
  revokeRole,
} from './held-role.ts'
import { endMade, pollMadeEnd } from './made-end.ts'
import { checkMade, giveMade, nameOfMade, planMade } from './made-login.ts'
import { signMade } from './made-mark.ts'
import { setPassword } from './made-password.ts'
import {
  findConfigFaults,
  loginOf,
  readSettings,
  type Settings,
  shownFields,
  targetFields,
} from './postgresql-config.ts'
import { roleClaims } from './role-claims.ts'
import { openServerConnection } from './server-connection.ts'
import { disableAgainstOwner, endSessions, type SessionAccess } from './sessions.ts'

/** Grants roles of one PostgreSQL server to people's logins there. */
export const postgresql: DriverType = {
  shownFields,
  targetFields,
  findFaults: findConfigFaults,
  makeSecrets: () => ({}),
  inventoryParts: [],
  userLookupOf: null,
  open,
}

const done: Progress = { done: true }

function open({ config, egress, provisioner_id, marks }: Opening): Driver {
  const settings = readSettings(config)
  const connections = openConnections((signal) => openServerConnection(settings, egress, signal))
  const endAccess = (signal: AbortSignal) => ({ connections, signal, settings, egress })
  return {
    plan: (_tx, input, signal) => plan(connections, settings, input, signal),
    grant: (_tx, target, until, signal) =>
      connections.use({ signal, ahead: false }, async (leased) => {
        const held = readHeldRole(target)
        requireSameGiver(held, settings, leased.facts)
        if (held.made)
          await giveMade(leased, settings, { held, until, mark: await signMade({ marks, provisioner_id }, held) })
        else await give(leased, settings, held, until)
        return done
      }),
    async revoke(_tx, target, signal) {
      const held = readHeldRole(target)
      if (held.made) return endMade(endAccess(signal), held)
      await revoke({ connections, signal }, settings, held)
      return done
    },
    async poll(_tx, target, reference, signal) {
      const held = readHeldRole(target)
      return held.made ? pollMadeEnd(endAccess(signal), held, reference) : done
    },
    verify: (_tx, target, until, signal) =>
      connections.use({ signal, ahead: until === null }, (leased) => {
        const held = readHeldRole(target)
        requireSameGiver(held, settings, leased.facts)
        return (held.made ? checkMade : check)(leased, held, until)
      }),
    discover: (_tx, known, signal) =>
      (settings.makesLogins ? discoverMade : discover)(
        { connections, signal },
        { settings, provisioner_id, marks },
        known,
      ),
    setPassword: settings.makesLogins
      ? (target, signal) => setPassword({ connections, signal }, settings, readHeldRole(target))
      : null,
    readInventory: null,
    readDirectory: null,
    claims: roleClaims({ connections }, provisioner_id),
    health: (_tx, signal) => checkHealth({ connections, signal }, settings),
    pollAfterMs: () => 1_000,
    close: () => Promise.resolve(connections.close()),
  }
}

async function plan(
  connections: Connections,
  settings: Settings,
  input: PlanInput,
  signal: AbortSignal,
): Promise<Plan> {
  const names = requireNames(settings, input)
  if (settings.makesLogins) {
    const made = await connections.use({ signal, ahead: false }, (leased) => planMade(leased, settings, names))
    const connect = connectTo(settings, { ...names, needs_set_role: false })
    return { key: keyOf(made), target: made, held: false, session_seconds: 0, recorded_as: names.login, connect }
  }
  const { held_role, held, needs_set_role } = await connections.use({ signal, ahead: false }, (leased) =>
    resolveRole(leased, settings, names),
  )
  const connect = connectTo(settings, { ...names, needs_set_role })
  return { key: keyOf(held_role), target: held_role, held, session_seconds: 0, recorded_as: names.login, connect }
}

/** The role and the login of a request, by the config alone. */
function requireNames(settings: Settings, input: PlanInput): { role: string; login: string } {
  const { resource, action, user } = input
  if (!settings.resourceIds.has(resource.id)) {
    throw new TargetError('permanent', `\`${resource.id}\` is not among the \`resource_ids\` of its provisioner`)
  }
  const role = settings.roles.get(action)
  if (role === undefined) {
    throw new TargetError('permanent', `\`${action}\` is not among the \`roles\` of its provisioner`)
  }
  const login = settings.makesLogins ? nameOfMade(input) : loginOf(settings, user.email)
  if (login === undefined)
    throw new TargetError('permanent', `the config of its provisioner has no login for \`${user.email}\``)
  return { role, login }
}

/**
 * Removes the role first, then disables a managed login, then ends every connection: an existing session may keep what it had,
 * and a session that begins now no longer gets it.
 */
async function revoke(access: SessionAccess, settings: Settings, held: HeldRole): Promise<void> {
  const { connections, signal } = access
  const logins = await connections.use({ signal, ahead: true }, (leased) => {
    requireSameGiver(held, settings, leased.facts)
    return revokeRole(leased, held)
  })
  // False: it holds another role, and stays enabled.
  const disable = (login: Login) => disableAgainstOwner(access, login, (leased) => disableLogin(leased, login))
  for (const login of logins) {
    const isDisabled = held.manages_login && (!login.can_login || (await disable(login)))
    await endSessions(access, login, isDisabled)
  }
}
