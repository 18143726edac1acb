/** `npm run screenshots`: plays the demo on a new service, and takes the README's pictures of its data into docs/pictures/. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startService } from '../../bench/sallyport.ts'
import { gather, type Person, type Place, production, setUp } from '../src/commands/demo/cast.ts'
import { openStage } from '../src/commands/demo/stage.ts'
import { approveByRule, breakGlass, requestAndApprove } from '../src/commands/demo/story.ts'
import { launchChromium, type Page, skipChromium } from './support/chromium.ts'
import { fillInSignIn } from './support/sign-in-form.ts'
import { until } from './support/wait.ts'

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const admin = fileURLToPath(new URL('../src/commands/admin.ts', import.meta.url))
/** What the actions of the demo mean. */
const described = {
  ReadOnlyAccess: 'Read everything, change nothing.',
  AdministratorAccess: 'Everything, with the right to give rights.',
}
const desk = { width: 1_200, height: 720 }
const phone = { width: 390, height: 780 }

if (skipChromium !== false) {
  console.error(skipChromium)
  process.exit(1)
}
const data = await mkdtemp(join(tmpdir(), 'sallyport-pictures-'))
const service = await startService({ DATA_DIR: data, LOG_LEVEL: 'warn' })
const browser = await launchChromium()
try {
  const place = {
    ...(JSON.parse(readFileSync(join(data, 'bootstrap.json'), 'utf8')) as Place),
    base_url: service.base_url,
  }
  const owner = await nameOrganization(place)
  const stage = openStage()
  const cast = await gather(stage, place)
  await setUp(stage, cast)
  for (const [action, description] of Object.entries(described))
    await cast.owner.ask(200, 'PUT', `/v1/actions/${action}`, { description })
  await cast.owner.ask(200, 'PATCH', `/v1/groups/${cast.group}`, { name: 'Shop engineers' })
  await requestAndApprove(stage, cast)
  await approveByRule(stage, cast)
  await breakGlass(stage, cast)
  const answers = async () => (await fetch(`${service.base_url}/console/`)).status === 200
  await until('the console is built', answers)
  mkdirSync(folder, { recursive: true })

  await owner.goto(`${service.base_url}/console/start`)
  await owner.getByText('Administrator rights', { exact: true }).click()
  await owner
    .getByText(/gains? AdministratorAccess/)
    .first()
    .waitFor()
  await owner
    .getByRole('heading', { name: '2. Who gets it, and how' })
    .evaluate((heading: { scrollIntoView(): void }) => heading.scrollIntoView())
  await take(owner, 'rules')

  const dan = await open(place, cast.dan, desk)
  await dan
    .getByText(/ left$/)
    .first()
    .waitFor()
  await take(dan, 'access')
  await dan.goto(`${service.base_url}/console/?type=cloud_account&id=${production.id}&action=ReadOnlyAccess`)
  await dan.getByLabel('Reason').fill('The settlement job of tonight hangs, see INC-4711.')
  await dan.getByText(/^Needs 1 of/).waitFor()
  await take(dan, 'request')
  await dan.getByRole('button', { name: 'Request access' }).click()
  await dan.getByText('You cannot decide your own request.').waitFor()

  const ben = await open(place, cast.ben, desk, 'inbox')
  await ben.getByRole('button', { name: /^Approve for/ }).waitFor()
  await take(ben, 'inbox')
  const pocket = await open(place, cast.cleo, phone, 'inbox', 'dark')
  await pocket.getByRole('link', { name: /ReadOnlyAccess on/ }).click()
  await pocket.getByRole('button', { name: /^Approve for/ }).waitFor()
  await take(pocket, 'phone')
} finally {
  await browser.close()
  await service.stop()
  await rm(data, { recursive: true, force: true })
}

/** Becomes the owner by a setup link, as a person does in their browser, and names the organization. */
async function nameOrganization({ base_url }: Place): Promise<Page> {
  const { PATH, HOME } = process.env
  const env = { ...(PATH && { PATH }), ...(HOME && { HOME }), DATA_DIR: data }
  const { stdout } = await promisify(execFile)(process.execPath, [admin, 'setup-link'], { env })
  const [, key] = /#k=([\w-]+)/.exec(stdout) ?? []
  const page = await browser.newPage({ viewport: desk })
  await page.goto(`${base_url}/console/setup#k=${key}`)
  await page.getByLabel('Your name').fill('Olivia Reyes')
  await page.getByLabel('E-mail address').fill('olivia@acme.example')
  await page.getByLabel('Organization').fill('Acme')
  await page.getByLabel('Passphrase').fill(randomBytes(18).toString('base64url'))
  await page.getByRole('button', { name: 'Become the owner' }).click()
  await page.getByRole('heading', { name: 'You own Acme' }).waitFor()
  return page
}

/** A window of its own in which a person of the demo is signed in. */
async function open(
  { tenant_id, base_url }: Place,
  { email, password }: Person,
  viewport: { width: number; height: number },
  path = '',
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  const context = await browser.newContext({ viewport, colorScheme })
  const page = await context.newPage()
  await page.goto(`${base_url}/console/${path}`)
  await fillInSignIn(page, { email, password, tenant_id })
  await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
  return page
}

async function take(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`)
  // What was said a moment ago leaves by itself.
  await until('nothing is announced', async () => (await page.locator('p.shadow-over').count()) === 0)
  await page.screenshot({ path })
  console.log(`docs/pictures/${name}.png`)
}
