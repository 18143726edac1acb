import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ConnectionTarget, connectAlone } from '../server/src/db/connect.ts'
import { startEmbedded } from '../server/src/db/embedded/start.ts'
import { migrate } from '../server/src/db/migrate.ts'
import { appRole, ownerRole, setUpRoles } from '../server/src/db/roles.ts'

/** Somebody who signed in. */
export type Person = { id: string; token: string }

/** What every endpoint bench stands on. */
export type Stage = {
  tenant_id: string
  owner: Person
  approver: Person
  /** The database that the running service serves. */
  served: ConnectionTarget
  /** A copy that no service looks at: what is written there sets nothing off. */
  quiet: ConnectionTarget
  port: number
  rows: Rows
  serverVersion: string
  /** The number of the first of so many pending requests that nobody else is given. */
  takePending(where: 'served' | 'quiet', count: number): number
  /** Puts off all due work, so that the service has nothing to do beside what it is asked. */
  postponeWork(): Promise<void>
  close(): Promise<void>
}

/** How many rows of each kind there are: requests to be read, and requests to be approved. */
export type Rows = { read: number; pending: number; groups: number }

/** Ids of the rows begin with this, behind it stand twelve digits: `idOf`. */
export const idHead = '00000000-0000-7000-8000-'
export const firstNumber = 100_000_000_000
/** Where the numbers of pending requests begin. */
export const firstPending = 200_000_000_000

export const idOf = (number: number): string => `${idHead}${number}`

const root = fileURLToPath(new URL('../', import.meta.url))
const database = 'sallyport'
const copy = 'sallyport_copy'

/** An embedded PostgreSQL with rows in it and the real service in front, all in a folder that goes with `close`. */
export async function openStage(rows: Rows): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const postgres = await startEmbedded({
    dataDir: join(folder, 'database'),
    log: () => undefined,
    onCrash: (reason) => console.error(`PostgreSQL ended: ${reason}`),
  })
  const { host, port, superuser, password } = postgres
  const as = (user: string, database: string): ConnectionTarget => ({
    ...{ host, port, user, database },
    ...(password !== undefined && { password }),
  })
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true }), postgres.stop]
  const close = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    await makeDatabase(as(superuser, 'postgres'), as(superuser, database), as(ownerRole, database))
    const superTarget = as(superuser, database)
    const client = await connectAlone(superTarget)
    stops.push(() => client.end())
    const env = {
      DATA_DIR: join(folder, 'service'),
      DATABASE_URL: urlOf(as(appRole, database)),
      // Tokens are issued in its name: it must outlive the first start, whose port does not.
      PUBLIC_URL: 'http://127.0.0.1',
      SECRET_KEY: randomBytes(32).toString('base64'),
    }
    const first = await startService(env)
    const people = await gather(first.base_url, env.DATA_DIR)
    await first.stop()
    await fill(superTarget, rows, people)
    await client.query(`vacuum analyze`)
    const version = await client.query<{ server_version: string }>('show server_version')
    await client.end()
    await copyDatabase(as(superuser, 'postgres'))
    const service = await startService(env)
    stops.push(service.stop)
    const inside = await connectAlone(superTarget)
    stops.push(() => inside.end())
    const taken = { served: 0, quiet: 0 }
    return {
      rows,
      takePending(where, count) {
        const first = firstPending + taken[where]
        taken[where] += count
        if (taken[where] > rows.pending) throw new Error('there are no pending requests left')
        return first
      },
      async postponeWork() {
        await inside.query(
          `update entitlement set next_look_at = now() + interval '10 hours' where next_look_at < now()`,
        )
        await inside.query(
          `update access_grant set next_look_at = now() + interval '10 hours' where next_look_at < now()`,
        )
      },
      ...people,
      served: as(appRole, database),
      quiet: as(appRole, copy),
      port: service.port,
      serverVersion: version.rows[0]?.server_version ?? '',
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function makeDatabase(
  server: ConnectionTarget,
  inside: ConnectionTarget,
  owner: ConnectionTarget,
): Promise<void> {
  const admin = await connectAlone(server)
  await admin.query(`create database ${database}`)
  await admin.end()
  const client = await connectAlone(inside)
  await setUpRoles(client, database, undefined)
  await client.end()
  await migrate(owner)
}

async function copyDatabase(server: ConnectionTarget): Promise<void> {
  const admin = await connectAlone(server)
  await admin.query(`create database ${copy} template ${database}`)
  await admin.query(`grant connect on database ${copy} to ${appRole}`)
  await admin.end()
}

function urlOf({ host, port, user, password, database }: ConnectionTarget): string {
  const secret = password === undefined ? '' : `:${encodeURIComponent(String(password))}`
  return `postgres://${user}${secret}@/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`
}

/** The service as `npm start` starts it, in a process of its own. */
async function startService(env: Record<string, string>) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const port = await freePort()
  const base_url = `http://127.0.0.1:${port}`
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, scripts.start.split(' ').slice(1), {
    cwd: root,
    env: { ...(PATH && { PATH }), ...(HOME && { HOME }), ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  for (let tries = 0; (await fetch(`${base_url}/readyz`).catch(() => undefined))?.ok !== true; tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error('the service did not become ready')
    await pause(50)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  return { port, base_url, stop }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The owner and somebody who approves, both signed in; and one request that is pending, and one that was approved. */
async function gather(base_url: string, data_dir: string) {
  const bootstrap = JSON.parse(readFileSync(join(data_dir, 'bootstrap.json'), 'utf8')) as {
    tenant_id: string
    admin: { email: string; password: string }
  }
  const { tenant_id, admin } = bootstrap
  const call = async <Body>(method: string, path: string, body: unknown, token?: string): Promise<Body> => {
    const headers = { 'content-type': 'application/json', 'x-tenant-id': tenant_id }
    const reply = await fetch(`${base_url}${path}`, {
      method,
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`)
    return (await reply.json()) as Body
  }
  const signIn = async (email: string, password: string): Promise<Person> => {
    const { token } = await call<{ token: string }>('POST', '/v1/auth/login', { email, password })
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }
    return { id: sub, token }
  }
  const owner = await signIn(admin.email, admin.password)
  const welcome = async (name: string, roles: string[]) => {
    const account = { email: `${name}@bench.example`, password: randomBytes(18).toString('base64url') }
    await call('POST', '/v1/users', { ...account, name, roles }, owner.token)
    return signIn(account.email, account.password)
  }
  const [requester, approver] = [await welcome('requester', ['user']), await welcome('approver', ['approver'])]
  const policy = await call<{ id: string }>('POST', '/v1/policies', { name: 'Bench' }, owner.token)
  for (const policy_text of [
    'permit (principal, action == Action::"ReadOnlyAccess", resource is cloud_account);',
    'permit (principal in Role::"approver", action == Action::"approve", resource is access_request);',
  ]) {
    await call('POST', `/v1/policies/${policy.id}/rules`, { policy_text }, owner.token)
  }
  const asked = {
    resource: { type: 'cloud_account', id: '111122223333' },
    action: 'ReadOnlyAccess',
    duration_seconds: 3600,
  }
  for (let count = 0; count < 2; count++) {
    const { id } = await call<{ id: string }>('POST', '/v1/requests', asked, requester.token)
    if (count === 1) await call('POST', `/v1/requests/${id}/approve`, {}, approver.token)
  }
  return { tenant_id, owner, approver }
}

/** Many of what `gather` made one of, and groups with members and roles. */
async function fill(
  target: ConnectionTarget,
  rows: Rows,
  { tenant_id, approver }: { tenant_id: string; approver: Person },
) {
  const client = await connectAlone(target)
  const clone = (table: string, set: string, where: string, first: number, count: number) =>
    client.query(
      `insert into ${table} select (jsonb_populate_record(one, jsonb_build_object(${set}))).*
        from ${table} one, generate_series(${first}::bigint, ${first}::bigint + ${count} - 1) number where ${where}`,
    )
  const id = `'id', '${idHead}' || number`
  await clone('access_request', id, `status = 'approved'`, firstNumber, rows.read)
  const active = `'status', 'active', 'provisioning_status', 'successful', 'next_look_at', null, 'activated_at', now(),
    'expires_at', now() + interval '10 hours', 'entitlement_id', null, 'expiring_at', null`
  const ofRequest = `'request_id', '${idHead}' || number`
  const one = `one.id = (select id from access_grant limit 1)`
  await clone('access_grant', `${id}, ${ofRequest}, ${active}`, one, firstNumber, rows.read)
  await clone(
    'access_request',
    `${id}, 'next_look_at', now() + interval '10 hours'`,
    `status = 'pending'`,
    firstPending,
    rows.pending,
  )
  await client.query(
    `insert into tenant_group (tenant_id, id, name, description, source)
      select $1, ('${idHead}' || number)::uuid, 'group ' || number, 'one of many', 'local'
      from generate_series(${firstNumber}::bigint, ${firstNumber}::bigint + $2::int - 1) number`,
    [tenant_id, rows.groups],
  )
  await client.query(
    `insert into group_member (tenant_id, group_id, user_id, membership_source)
      select tenant_id, id, $1, 'local' from tenant_group`,
    [approver.id],
  )
  await client.query(
    `insert into group_role (tenant_id, group_id, role_id) select tenant_id, id, 'user' from tenant_group`,
  )
  await client.end()
}
