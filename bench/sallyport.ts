import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../server/test/support/free-port.ts'

/** A user who has signed in. */
export type Person = { id: string; token: string }

/** The users of the measured tenant. */
export type People = { tenant_id: string; owner: Person; approver: Person }

const root = fileURLToPath(new URL('../', import.meta.url))

/** Higher than a few credentials can reach; the cost of limiting is still in the figures. */
const unlimited = { RATE_LIMIT_PER_SECOND: '999999', RATE_LIMIT_BURST: '999999', TENANT_RATE_LIMIT_PER_SECOND: '0' }

/** The service as `npm start` starts it, in its own process. */
export async function startService(env: Record<string, string>) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const port = await freePort()
  const base_url = `http://127.0.0.1:${port}`
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, scripts.start.split(' ').slice(1), {
    cwd: root,
    env: { ...(PATH && { PATH }), ...(HOME && { HOME }), ...unlimited, ...env, PORT: String(port) },
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
  /** As in a power cut. */
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { port, base_url, pid: child.pid ?? 0, stop, kill }
}

/** The owner and an approver, both signed in; and one pending and one approved request. */
export async function gather(base_url: string, data_dir: string) {
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
  const body = {
    resource: { type: 'cloud_account', id: '111122223333' },
    action: 'ReadOnlyAccess',
    reason: 'a look at the logs',
    duration_seconds: 3600,
  }
  for (let count = 0; count < 2; count++) {
    const { id } = await call<{ id: string }>('POST', '/v1/requests', body, requester.token)
    if (count === 1) await call('POST', `/v1/requests/${id}/approve`, {}, approver.token)
  }
  return { tenant_id, owner, approver }
}
