import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after } from 'node:test'
import { openChromium, type Window } from './chromium.ts'
import type { Client } from './client.ts'
import { type Person, startOnTestServer } from './sallyport.ts'
import { fillInSignIn } from './sign-in-form.ts'
import { requireSound } from './sound-page.ts'

/** PICTURES: a folder for a picture of each state of each screen. */
const pictures = process.env.PICTURES

const accounts = ['payments-prod', 'payments-staging', 'shop-prod', 'shop-staging', 'data-warehouse', 'identity-prod']

const permits = {
  test: {
    action_ids: ['ReadOnlyAccess', 'PowerUserAccess'],
    approval_mode: 'auto',
    conditions: 'when { resource.hasTag("env") && resource.getTag("env") == "test" }',
  },
  production: {
    action_ids: ['ReadOnlyAccess', 'PowerUserAccess', 'AdministratorAccess'],
    approval_mode: 'require',
    conditions: `when { resource.hasTag("env") && resource.getTag("env") == "production" && context.duration_seconds <= 14400 }`,
  },
  emergency: {
    action_ids: ['AdministratorAccess'],
    approval_mode: 'break_glass',
    conditions: 'when { context.break_glass }',
  },
}

/** What a person with administrator rights for hours reads. */
export const administratorNotice =
  'Administrator rights last an hour at most. Is something broken? Use emergency access.'

/** A service with accounts, rules and people, and a browser for each person who is asked for. */
export async function openConsoleStage(env: Record<string, string> = {}) {
  const sallyport = await startOnTestServer(env)
  const openWindow = await openChromium()
  const address = env.PUBLIC_URL ?? sallyport.base_url
  const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  await furnish(owner)
  const people = {
    dana: await sallyport.join('Dana Lee', ['user']),
    ada: await sallyport.join('Ada Okafor', ['approver']),
    ben: await sallyport.join('Ben Marsh', ['approver']),
  }
  /** One of those, or a person whom a test made. */
  type Who = keyof typeof people | Person
  const windows: [string, Window][] = []
  after(() => {
    for (const [who, { complaints }] of windows) assert.deepEqual(complaints, [], who)
  })

  /** A browser in which a person signs in, at a page of the console. */
  async function signIn(who: Who, path = '', size = { width: 1_440, height: 900 }): Promise<Window> {
    const window = await openWindow()
    windows.push([typeof who === 'string' ? who : who.email, window])
    const { page } = window
    await page.setViewportSize(size)
    await page.goto(`${address}/console/${path}`)
    await enter(window, who)
    await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
    return window
  }

  /** Fills in the sign-in that a window shows. */
  async function enter({ page }: Window, who: Who): Promise<void> {
    const { email, password } = typeof who === 'string' ? people[who] : who
    await fillInSignIn(page, { email, password, tenant_id: sallyport.bootstrap.tenant_id })
  }

  /** A request of Dana's that waits. */
  async function request(more: Record<string, unknown> = {}): Promise<string> {
    const body = {
      resource: { type: 'cloud_account', id: '123456789010' },
      action: 'ReadOnlyAccess',
      reason: 'look at the settlement job',
      duration_seconds: 3_600,
      ...more,
    }
    const made = await people.dana.call<{ id: string }>('POST', '/v1/requests', body)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.id
  }

  const sound = (window: Window, state: string) =>
    requireSound(window, state, pictures === undefined ? undefined : join(pictures, state))

  return { sallyport, people, openWindow, signIn, enter, request, sound }
}

async function furnish(owner: Client): Promise<void> {
  const send = async (method: 'POST' | 'PUT', path: string, body: unknown) => {
    const reply = await owner<{ id: string }>(method, path, body)
    assert.ok(reply.status < 300, `${path}: ${JSON.stringify(reply.body)}`)
    return reply.body.id
  }
  const resources = accounts.map((name, index) => ({
    ...{ id: `12345678901${index}`, account_id: `12345678901${index}`, name, rank: index },
    metadata: { env: name.endsWith('staging') ? 'test' : 'production', ...(index === 0 && { sensitivity: 'high' }) },
  }))
  await send('PUT', '/v1/cloud/accounts', { resources })
  await send('PUT', '/v1/actions/ReadOnlyAccess', { description: 'Read everything, change nothing' })
  await send('PUT', '/v1/actions/AdministratorAccess', { description: 'Everything, with the right to give rights' })
  const policy = await send('POST', '/v1/policies', { name: 'Everyday access' })
  const scopes = { action_scope_type: 'in', resource_scope_type: 'is', resource_entity_type: 'cloud_account' }
  for (const permit of Object.values(permits))
    await send('POST', `/v1/policies/${policy}/rules`, { effect: 'permit', ...scopes, ...permit })
  await send('POST', `/v1/policies/${policy}/rules`, {
    ...{ effect: 'forbid', ...scopes, action_ids: ['AdministratorAccess'], notice: administratorNotice },
    conditions: 'when { context.duration_seconds > 3600 && !context.break_glass }',
  })
}
