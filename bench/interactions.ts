import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { type Browser, launchChromium, type Page } from '../server/test/support/chromium.ts'
import { fillInSignIn } from '../server/test/support/sign-in-form.ts'
import type { Bench } from './bench.ts'
import { embeddedTarget } from './embedded.ts'
import { spread } from './ends.ts'
import { callerOf } from './meanwhile.ts'
import { firstNumber, firstPending, idHead } from './rows.ts'
import { startService } from './sallyport.ts'

/** Above it, a person notices that a page is slow. */
const limitMs = 100

type Account = { email: string; password: string; tenant_id: string }
type Scale = { accounts: number; requests: number; pending: number }

/** The pages of the console with many accounts and requests: from each key and click to the next picture that the browser draws. */
export const interactions: Bench = {
  summary: 'the console with 1,000 accounts and 10,000 requests: from a key or a click to the next picture',
  async run(effort, say) {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
    const browser = await launchChromium()
    try {
      const scale = effort.isMiniature
        ? { accounts: 50, requests: 200, pending: 60 }
        : { accounts: 1_000, requests: 10_000, pending: 1_000 }
      say(`${scale.accounts} accounts, ${scale.requests} requests`)
      const people = await furnish(service.base_url, folder, scale)
      await untilBuilt(service.base_url)
      const measured = new Map<string, number[]>()
      for (let round = 0; round < effort.rounds; round += 1) {
        say(`round ${round + 1}`)
        await measure(browser, service.base_url, people.requester, 'requesting', request, measured)
        await measure(browser, service.base_url, people.approver, 'deciding', decide, measured)
      }
      return {
        columns: ['ms to the next picture', 'p50', 'p90', 'p99', 'max', 'count', `of ${limitMs} ms`],
        rows: [...measured].map(([name, took]) => [name, ...spread(took), `${Math.round(Math.max(...took))} %`]),
        notes: [
          `${scale.accounts} accounts, ${scale.requests} requests, ${scale.pending} of them waiting; ${effort.rounds} rounds, each in a new browser window.`,
          `The browser’s own trace says how long each key and click took until the next picture (\`EventTiming\`). The limit is ${limitMs} ms.`,
          `Chromium ${browser.version()} without a graphics card; it, the service and its database share the machine.`,
        ],
      }
    } finally {
      await browser.close()
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** What a person does: each act is measured. */
type Story = (page: Page, address: string) => Promise<void>

async function request(page: Page, address: string): Promise<void> {
  const search = page.getByLabel('What do you need access to?')
  for (const [text, found] of [
    ['account', 'account-'],
    ['team 7', 'team-7-'],
    ['production 12', 'production-12'],
  ] as const) {
    await search.fill('')
    await search.pressSequentially(text, { delay: 60 })
    await page.getByRole('option').filter({ hasText: found }).first().waitFor()
    // Until the list is that of the whole text.
    await page.getByRole('listbox').and(page.locator(':not(.opacity-60)')).waitFor()
  }
  for (let count = 0; count < 5; count += 1) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const reason = page.getByLabel('Reason')
  await reason.waitFor()
  await page.getByText('30 min').click()
  await reason.pressSequentially('look at the logs', { delay: 40 })
  await page.getByRole('button', { name: 'Request access' }).click()
  await page.getByText('You cannot decide').waitFor()
  await page.getByRole('button', { name: 'Cancel request' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel request' }).click()
  await page.getByText('Cancelled', { exact: true }).first().waitFor()
  await page
    .getByRole('button', { name: /^Notifications/ })
    .first()
    .click()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'You' }).first().click()
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await page.goto(address)
}

async function decide(page: Page): Promise<void> {
  await page.getByRole('link', { name: /Inbox/ }).first().click()
  await page.getByRole('button', { name: /^Approve/ }).waitFor()
  for (let count = 0; count < 3; count += 1) {
    const more = page.getByRole('button', { name: 'Load more' })
    if ((await more.count()) === 0) break
    await more.click()
    await pause(500)
  }
  for (let count = 0; count < 20; count += 1) {
    await page.keyboard.press('j')
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
  }
  await page.keyboard.press('d')
  await page.getByLabel('Note').pressSequentially('not today', { delay: 40 })
  await page.getByRole('button', { name: 'Deny' }).click()
  await page
    .getByText(/denied this/)
    .first()
    .waitFor()
}

/** Signs in a person in a new window, has them do something, and adds what the trace says of each act. */
async function measure(
  browser: Browser,
  base_url: string,
  account: Account,
  name: string,
  story: Story,
  measured: Map<string, number[]>,
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  const page = await context.newPage()
  context.setDefaultTimeout(20_000)
  await page.goto(`${base_url}/console/`)
  await fillInSignIn(page, account)
  await page.getByText('That is the normal state').waitFor()
  await browser.startTracing(page, { categories: ['devtools.timeline'] })
  await story(page, `${base_url}/console/`)
  const trace = await browser.stopTracing()
  measured.set(name, [...(measured.get(name) ?? []), ...interactionsOf(trace)])
  await context.close()
}

type TraceEvent = {
  name: string
  ph: string
  args: { data?: { interactionId?: number; duration?: number } }
}

/** Milliseconds of each interaction of a trace: of its events (as pointerdown, pointerup and click) the longest. */
function interactionsOf(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const longest = new Map<number, number>()
  for (const { name, ph, args } of traceEvents) {
    if (name !== 'EventTiming' || ph !== 'b') continue
    const { interactionId = 0, duration = 0 } = args.data ?? {}
    if (interactionId > 0) longest.set(interactionId, Math.max(longest.get(interactionId) ?? 0, duration))
  }
  return [...longest.values()]
}

/** Accounts, a rule, the person who requests and the person who decides, and many requests of a third. */
async function furnish(base_url: string, folder: string, scale: Scale) {
  const { tenant_id, admin } = JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8')) as {
    tenant_id: string
    admin: { email: string; password: string }
  }
  const call = callerOf(base_url)
  const anyone = { tenant_id, token: '' }
  const { token } = await call<{ token: string }>(anyone, 'POST', '/v1/auth/login', admin)
  const owner = { tenant_id, token }
  const welcome = async (name: string, roles: string[]): Promise<Account> => {
    const account = {
      email: `${name.toLowerCase().replace(' ', '.')}@bench.example`,
      password: randomBytes(18).toString('base64url'),
    }
    await call(owner, 'POST', '/v1/users', { ...account, name, roles })
    return { ...account, tenant_id }
  }
  const [requester, approver] = [await welcome('Dana Lee', ['user']), await welcome('Ben Marsh', ['approver'])]
  const others = await welcome('Kim Ito', ['user'])
  const policy = await call<{ id: string }>(owner, 'POST', '/v1/policies', { name: 'Bench' })
  const actions = ['ReadOnlyAccess', 'PowerUserAccess', 'AdministratorAccess'].map((name) => `Action::"${name}"`)
  const policy_text = `permit (principal, action in [${actions.join(', ')}], resource is cloud_account);`
  await call(owner, 'POST', `/v1/policies/${policy.id}/rules`, { policy_text })
  const resources = Array.from({ length: scale.accounts }, (_, rank) => ({
    ...{ id: numberOf(rank), account_id: numberOf(rank), rank },
    name: `account-team-${rank % 40}-${rank % 3 === 0 ? 'production' : 'test'}-${rank}`,
    metadata: { env: rank % 3 === 0 ? 'production' : 'test' },
  }))
  await call(owner, 'PUT', '/v1/cloud/accounts', { resources })
  const signedIn = await call<{ token: string }>(anyone, 'POST', '/v1/auth/login', {
    email: others.email,
    password: others.password,
  })
  await call({ tenant_id, token: signedIn.token }, 'POST', '/v1/requests', {
    resource: { type: 'cloud_account', id: numberOf(0) },
    ...{ action: 'ReadOnlyAccess', reason: 'a look at the logs', duration_seconds: 3600 },
  })
  await multiplyRequest(folder, scale)
  return { requester, approver }
}

const numberOf = (rank: number) => String(200_000_000_000 + rank)

/** Copies the one request that there is: most of them are over, and for different accounts. */
async function multiplyRequest(folder: string, { accounts, requests, pending }: Scale): Promise<void> {
  const client = await connectAlone(await embeddedTarget(folder))
  const copy = (first: number, count: number, set: string) =>
    client.query(
      `insert into access_request
        select (jsonb_populate_record(one, jsonb_build_object('id', '${idHead}' || number,
          'resource_id', (200000000000 + number % ${accounts})::text ${set}))).*
        from access_request one, generate_series(${first}::bigint, ${first}::bigint + ${count} - 1) number
        where one.id = (select min(id::text)::uuid from access_request where id::text not like '${idHead}%')`,
    )
  try {
    await copy(firstNumber, requests - pending, `, 'status', 'cancelled', 'next_look_at', null`)
    await copy(firstPending, pending, `, 'next_look_at', now() + interval '10 hours'`)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

/** The service builds its console at the first start of a version. */
async function untilBuilt(base_url: string): Promise<void> {
  for (let tries = 0; (await fetch(`${base_url}/console/`)).status !== 200; tries += 1) {
    if (tries > 600) throw new Error('the service has no console')
    await pause(200)
  }
}
