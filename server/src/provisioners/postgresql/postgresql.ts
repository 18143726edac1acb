import { withinDeadline } from '../../kernel/deadline.ts'
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
import { type Connections, type LeasedConnection, openConnections } from './connections.ts'
import { discover } from './discover.ts'
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
import {
  findConfigFaults,
  loginOf,
  readSettings,
  type Settings,
  shownFields,
  targetFields,
} from './postgresql-config.ts'
import { openServerConnection } from './server-connection.ts'
import { endSessions, type SessionAccess, terminate } from './sessions.ts'

/** Grants roles of one PostgreSQL server to people's logins there. */
export const postgresql: DriverType = {
  shownFields,
  targetFields,
  findFaults: findConfigFaults,
  makeSecrets: () => ({}),
  open,
}

const done: Progress = { done: true }

function open({ config, egress }: Opening): Driver {
  const settings = readSettings(config)
  const connections = openConnections((signal) => openServerConnection(settings, egress, signal))
  return {
    plan: (_tx, input, signal) => plan(connections, settings, input, signal),
    grant: (_tx, target, until, signal) =>
      connections.use({ signal, ahead: false }, async (leased) => {
        const held = readHeldRole(target)
        requireSameGiver(held, settings, leased.facts)
        await give(leased, settings, held, until)
        return done
      }),
    async revoke(_tx, target, signal) {
      await revoke({ connections, signal }, settings, readHeldRole(target))
      return done
    },
    poll: () => Promise.resolve(done),
    verify: (_tx, target, until, signal) =>
      connections.use({ signal, ahead: until === null }, (leased) => {
        const held = readHeldRole(target)
        requireSameGiver(held, settings, leased.facts)
        return check(leased, held, until)
      }),
    discover: (_tx, known, signal) => discover({ connections, signal }, settings, known),
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
  const { held_role, held, needs_set_role } = await connections.use({ signal, ahead: false }, (leased) =>
    resolveRole(leased, settings, names),
  )
  const connect = connectTo(settings, { ...names, needs_set_role })
  return { key: keyOf(held_role), target: held_role, held, session_seconds: 0, recorded_as: names.login, connect }
}

/** The role and the login of a request, by the config alone. */
function requireNames(settings: Settings, { resource, action, user }: PlanInput): { role: string; login: string } {
  if (!settings.resourceIds.has(resource.id)) {
    throw new TargetError('permanent', `\`${resource.id}\` is not among the \`resource_ids\` of its provisioner`)
  }
  const role = settings.roles.get(action)
  if (role === undefined) {
    throw new TargetError('permanent', `\`${action}\` is not among the \`roles\` of its provisioner`)
  }
  const login = loginOf(settings, user.email)
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
  for (const login of logins) {
    const isDisabled = held.manages_login && (!login.can_login || (await disableLoginRetrying(access, login)))
    await endSessions(access, login, isDisabled)
  }
}

const retryMs = 200

/**
 * Disables a login against a hostile owner, who could block it by changing their password in a transaction that they leave
 * open. So their connections are ended first, and again while Sallyport waits. False: it holds another role, and stays enabled.
 */
async function disableLoginRetrying({ connections, signal }: SessionAccess, login: Login): Promise<boolean> {
  const use = <Result>(work: (leased: LeasedConnection) => Promise<Result>) =>
    connections.use({ signal, ahead: true }, work)
  const disabling = use(async (leased) => {
    await terminate(leased.query, login)
    return disableLogin(leased, login)
  })
  disabling.catch(() => undefined)
  const isDisabled = () => disabling.then(() => true)
  while (!(await withinDeadline(retryMs, isDisabled, () => false))) {
    await use(({ query: input }) => terminate(input, login))
  }
  return disabling
}
