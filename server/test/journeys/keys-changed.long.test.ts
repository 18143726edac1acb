import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { rootKeyOf } from '../../src/secrets/root-key.ts'
import type { Client } from '../support/client.ts'
import { cheapPassword } from '../support/house.ts'
import { startOnTestServer, startScript, urlOf } from '../support/sallyport.ts'
import { until } from '../support/wait.ts'

/** The operator's command changes keys while two processes of the service are under load. */
const first = await startOnTestServer({ PUBLIC_URL: 'http://127.0.0.1:8080', LOG_LEVEL: 'info' })
const second = await first.beside()
const { asSuperuser, data_dir, bootstrap } = first
const processes = [first, second]
await asSuperuser('update user_password set hash = $1', [cheapPassword.hash])
const admins = processes.map((one) => one.client({ api_key: bootstrap.api_key }))
const adminAt = (at: number) => admins[at] ?? assert.fail()
const keyFile = join(data_dir, 'secret.key')
const outputs: string[] = []

const linesOf = () => readFileSync(keyFile, 'utf8').trim().split('\n')
const idOf = (line: string) => rootKeyOf(Buffer.from(line, 'base64')).id

function startRotation(...options: string[]) {
  const env = { DATABASE_URL: urlOf(first.service), DATA_DIR: data_dir }
  return startScript('admin', ['--json', 'rotate-keys', ...options], env)
}

const rotateKeys = (...options: string[]) => resultOf(startRotation(...options))

async function resultOf(command: ReturnType<typeof startRotation>): Promise<Record<string, unknown>> {
  const code = await command.end()
  outputs.push(command.output())
  assert.equal(code, 0, command.output())
  return JSON.parse(command.output().slice(command.output().indexOf('{'))) as Record<string, unknown>
}

function signer(at: Client) {
  return async () => {
    const { email } = bootstrap.admin
    const reply = await at<{ token: string }>('POST', '/v1/auth/login', { email, password: cheapPassword.text })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.token
  }
}

const signIns = processes.map((one) => signer(one.client(undefined)))
const statusAt = (at: number, token: string) =>
  processes[at]
    ?.client({ token })('GET', '/v1/users?limit=1')
    .then((reply) => reply.status)

function kidOf(token: string): string {
  const [head = ''] = token.split('.')
  return (JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }).kid
}

const published = (base_url: string) =>
  fetch(`${base_url}/.well-known/jwks.json`)
    .then((reply) => reply.json() as Promise<{ keys: { kid: string }[] }>)
    .then(({ keys }) => keys.map(({ kid }) => kid))

/** Seals a secret at one process, and has the other open it: it must, to store it again under another name. */
async function makeProvider(at: number) {
  const config = { url: 'https://idp.example', token: 'canary-7c1f' }
  const made = await adminAt(at)<{ id: string }>('POST', '/v1/identity-providers', {
    name: 'p',
    provider_type: 'custom_scim',
    config,
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.id
}

async function requireOpens(id: string, at: Client): Promise<void> {
  const config = { url: 'https://idp.example', token: '[redacted]', more: `x${Math.random()}` }
  const reply = await at('PATCH', `/v1/identity-providers/${id}`, { config })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}

test('a change of the token key under load fails no call and no sign-in, and a retired kid is refused (A7)', async (t) => {
  const [signInFirst = assert.fail(), signInSecond = assert.fail()] = signIns
  const old = await signInFirst()
  let calls = 0
  let over = false
  const seen = new Map<string, Set<number>>()
  const refused: string[] = []
  const load = signIns.map(async (signIn, at) => {
    while (!over) {
      const token = await signIn()
      const kid = kidOf(token)
      seen.set(kid, (seen.get(kid) ?? new Set()).add(at))
      // The other one first: it has never seen the token, and perhaps has not loaded its key at the takeover.
      for (const [one, what] of [
        [1 - at, token],
        [at, token],
        [at, old],
      ] as const) {
        const status = await statusAt(one, what)
        calls += 1
        if (status !== 200) refused.push(`${status} of ${one} for a token of ${kidOf(what)}`)
      }
      await pause(300)
    }
  })
  const { kid } = (await rotateKeys('--token-key')) as { kid: string }
  await until('both publish the new key', async () =>
    (await Promise.all(processes.map(({ base_url }) => published(base_url)))).every((kids) => kids.includes(kid)),
  )
  assert.ok(!seen.has(kid), 'the new key signs right after it was published')
  // The key begins to sign earlier: a process that was not notified knows the key all the same.
  await asSuperuser('update signing_key set signs_from = clock_timestamp() where kid = $1', [kid])
  await until('both sign with the new key', async () => seen.get(kid)?.size === 2)
  const sofar = calls
  await until('the load went on', async () => calls > sofar + 20)
  over = true
  await Promise.all(load)
  t.diagnostic(`${calls} calls, each with a token of another sign-in or of the old key: refused ${refused.length}`)
  assert.deepEqual(refused, [])

  const fresh = await signInSecond()
  assert.equal(kidOf(fresh), kid)
  await asSuperuser('update signing_key set retires_at = clock_timestamp() where kid <> $1', [kid])
  for (const [at, { base_url }] of processes.entries()) {
    await until('the old key is retired', async () => (await statusAt(at, old)) === 401)
    assert.equal(await statusAt(at, fresh), 200)
    await until('the old key is no longer published', async () => (await published(base_url)).join() === kid)
  }
})

test('the replacement of a leaked token key waits for the new one, and may be interrupted and run again (A7)', async () => {
  const [signIn = assert.fail()] = signIns
  const replace = async () => {
    const command = startRotation('--token-key', '--end-tokens')
    await until('it waits', async () => command.output().includes('Stay until') || command.exitCode() !== undefined)
    return command
  }
  const interrupted = await replace()
  interrupted.signal('SIGINT')
  assert.equal(await interrupted.end(), 1)
  assert.match(interrupted.output(), /error: stopped by SIGINT; .* run the command again, which is safe/)

  const begun = await signIn()
  const command = await replace()
  await until('the sessions of before have ended', async () => (await statusAt(1, begun)) === 401)
  const meanwhile = await signIn()
  assert.equal(await statusAt(1, meanwhile), 200)
  // The moment comes at once.
  await asSuperuser(`with moment as (select clock_timestamp() as at),
      newest as (update signing_key set signs_from = at from moment where retires_at is null)
    update signing_key set retires_at = at from moment where retires_at > at`)
  const { kid, sessions } = await resultOf(command)
  assert.equal(sessions, 2)
  for (const at of processes.keys()) {
    await until('the session of meanwhile has ended', async () => (await statusAt(at, meanwhile)) === 401)
  }
  await until('they sign with the new key', async () => kidOf(await signIn()) === kid)
})

test('during a change of the root key under load, each process opens what any process sealed (S6)', async () => {
  const before = await makeProvider(0)
  const [old = ''] = linesOf()
  let over = false
  let opened = 0
  const load = admins.map(async (_, at) => {
    while (!over) {
      const id = await makeProvider(at)
      await requireOpens(id, adminAt(1 - at))
      await requireOpens(before, adminAt(at))
      opened += 1
      await pause(150)
    }
  })
  await rotateKeys('--new-root')
  const [added = '', kept] = linesOf()
  assert.equal(kept, old)
  const done = await rotateKeys()
  assert.deepEqual([done.root_key_id, done.needed_beside], [idOf(added), []])
  await rotateKeys('--data-keys')
  const sofar = opened
  await until('the load went on', async () => opened > sofar + 4)
  over = true
  await Promise.all(load)

  const { root_keys, of_old } = (await rotateKeys('--check')) as {
    root_keys: Record<string, unknown>[]
    of_old: unknown
  }
  assert.deepEqual(
    root_keys.map(({ id, in_use, data_keys }) => [id, in_use, data_keys]),
    [
      [idOf(added), true, 2],
      [idOf(old), false, 0],
    ],
  )
  assert.deepEqual(of_old, { secrets: 0, token_keys: 0 })

  writeFileSync(keyFile, `${added}\n`)
  const third = await first.beside()
  await requireOpens(before, third.client({ api_key: bootstrap.api_key }))
  for (const admin of admins) await requireOpens(before, admin)

  // The old key alone no longer works.
  writeFileSync(keyFile, `${old}\n`)
  const env = { DATABASE_URL: urlOf(first.service), DATA_DIR: data_dir, PORT: '65535' }
  const refused = startScript('start', [], env)
  assert.equal(await refused.end(), 1)
  assert.match(refused.said().at(-1) ?? '', /^Sallyport does not start: the root key .* is not the one/)
  writeFileSync(keyFile, `${added}\n`)

  const output = [...outputs, ...processes.map((one) => one.output()), third.output(), refused.output()].join('\n')
  for (const text of [old, added, Buffer.from(added, 'base64').toString('hex'), 'canary-7c1f']) {
    assert.ok(!output.includes(text), 'a key or a secret is in the output')
  }
})
