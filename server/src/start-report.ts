/** What a start says: what runs here, on which database, for whom, and how people go on. */
import type { Config } from './config/config.ts'
import { findMisnamed } from './config/misnamed-variables.ts'
import { describeVersion, type Version } from './config/version.ts'
import type { ServedConsole } from './console/served-console.ts'
import { describeServer } from './db/server-version.ts'
import type { Database } from './db/transaction.ts'
import type { Presence } from './health/presence.ts'
import { sessionCookie } from './http/session-cookie.ts'
import { withinDeadline } from './kernel/deadline.ts'
import type { Log, Say } from './log/log.ts'
import { describeModes } from './tenants/mode.ts'
import { makeSetupLink } from './tenants/setup-link.flow.ts'
import { countTenants } from './tenants/tenant-store.ts'

/** How long the first start keeps its last line, the setup link, for a build of the console to end: people go on from there. */
const maxBuildWaitMs = 30_000
const stillBuilding = () => true

export function sayVersion(version: Version, log: Log, say: Say): void {
  say(`Sallyport ${describeVersion(version)} on Node ${process.versions.node}`, { ...version, pid: process.pid })
  for (const { name, nearest } of findMisnamed()) {
    log.warn(
      `${name} is set, which Sallyport does not read; did you mean ${nearest}? All variables: docs/reference/configuration.md`,
    )
  }
}

type Shared = { background: Database; presence: Presence }

/** Says which database it is, on which server, and who else uses it. */
export async function sayDatabase({ background, presence }: Shared, config: Config, say: Say): Promise<void> {
  const { version, name, host } = await describeServer(background.service)
  const isEmbedded = config.database_url === undefined
  const place = isEmbedded ? `embedded, in \`${config.data_dir}\`` : `database \`${name}\` at ${host}`
  // Only one process serves a folder: the rows of others there are of processes that were killed.
  const others = isEmbedded ? 0 : (await presence.others()).length
  const shared = others === 0 ? '' : `; ${others} other ${others === 1 ? 'process shares' : 'processes share'} it`
  say(`PostgreSQL ${version}, ${place}${shared}`, { postgresql: version, other_processes: others })
}

export async function sayTenants(database: Database, say: Say): Promise<void> {
  const counts = await countTenants(database.work)
  say(describeModes(counts), counts)
}

export function sayReady({ public_url }: Config, site: ServedConsole, say: Say): void {
  const state = site.state()
  const hasConsole = state === 'building' || 'folder' in state
  const places = [...(hasConsole ? [`console at ${public_url}/console/`] : []), `reference at ${public_url}/docs`]
  say(`Sallyport is ready at ${public_url} — ${places.join(', ')}`)
}

/** Once: a link in the log of each start would let its readers in again and again. The service runs without it. */
export async function sayHowToSetUp(
  { public_url }: Config,
  database: Database,
  say: Say,
  built: Promise<boolean>,
): Promise<void> {
  // The link stays the last line, where people look for it.
  const goesOn = await withinDeadline(maxBuildWaitMs, () => built, stillBuilding)
  if (!goesOn) return
  const again = 'npm run admin -- setup-link'
  await makeSetupLink(database, { public_url }).then(
    ({ url }) => say(`Open ${url} (once, within an hour; again: ${again})`),
    (error: unknown) => say(`no setup link could be made (${String(error)}); \`${again}\` makes one`),
  )
}

/** A cookie over plain http could be read on the way. A tunnel makes the service reachable on loopback. */
export function sayIfBrowsersCannotSignIn({ public_url, port }: Config, log: Log): void {
  const { fault } = sessionCookie(public_url)
  if (fault === undefined) return
  const { hostname } = new URL(public_url)
  const tunnel = `ssh -L ${port}:127.0.0.1:${port} ${hostname}`
  log.warn(
    `${fault}. Set PUBLIC_URL to an https address; for a trial, \`${tunnel}\` and PUBLIC_URL=http://127.0.0.1:${port}`,
  )
}
