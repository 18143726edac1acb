import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openChromium, skipChromium, type Window } from '../support/chromium.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { requireSound } from '../support/sound-page.ts'

/** The page of an invitation as a person meets it, in a real browser. PICTURES: a folder for a picture of each state. */
const pictures = process.env.PICTURES

suite('an invited person, in a browser', { skip: skipChromium }, async () => {
  const sallyport = await startOnTestServer()
  const openWindow = await openChromium()
  const { tenant_id, api_key } = sallyport.bootstrap
  const owner = sallyport.client({ api_key })
  const password = 'four random words here'
  const sound = (window: Window, state: string) =>
    requireSound(window, state, pictures === undefined ? undefined : join(pictures, `invitation-${state}`))

  async function invite(email: string): Promise<string> {
    const made = await owner('POST', '/v1/invitations', { email, name: 'Ben', roles: ['user'] })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return String(made.body.url)
  }
  async function open(url: string, heading: string): Promise<Window> {
    const window = await openWindow()
    await window.page.goto(url)
    await window.page.getByRole('heading', { name: heading }).waitFor()
    return window
  }

  test('a link that does not work says what to do', async () => {
    for (const key of ['', '#k=wrong']) {
      const window = await open(`${sallyport.base_url}/console/invitation${key}`, 'This invitation does not work')
      assert.match((await window.page.textContent('main')) ?? '', /Ask the person who invited you for a new link/)
      await sound(window, 'over')
    }
  })

  test('the person sets a password, is signed in, and a reload shows the same', async () => {
    const url = await invite('ben@example.com')
    const window = await open(url, 'default invites you to Sallyport')
    const { page } = window
    assert.equal(await page.inputValue('#name'), 'Ben')
    await sound(window, 'welcome')
    await page.getByLabel('Passphrase').fill('short')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByText(/has 5 characters: use at least 15/).waitFor()
    await sound(window, 'wrong')
    await page.getByLabel('Your name').fill('Benjamin')
    await page.getByLabel('Passphrase').fill(password)
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'You have joined default' }).waitFor()
    assert.ok(!page.url().includes('#'), 'the address still holds the key')
    await page.reload()
    await page.getByRole('heading', { name: 'You have joined default' }).waitFor()
    assert.equal(await page.textContent('#tenant'), tenant_id)
    await sound(window, 'done')
    const own = await page.evaluate(`fetch('/v1/users/me').then((reply) => reply.json())`)
    assert.equal((own as { name?: string }).name, 'Benjamin')
    const login = await sallyport.client(undefined)('POST', '/v1/auth/login', { email: 'ben@example.com', password })
    assert.equal(login.status, 200)
    await open(url, 'This invitation does not work')
  })

  test('in a tenant with a provider the page goes on to it, and can again later', async () => {
    const window = await openWindow()
    const { page } = window
    const goOn = `${sallyport.base_url}/docs/?went-on`
    const tenant = { id: tenant_id, name: 'Acme' }
    const known = { email: 'ben@example.com', name: 'Ben', expires_at: new Date(), password_min_length: 15 }
    let sent: unknown
    await page.route('**/v1/auth/invitation/check', (route) =>
      route.fulfill({ json: { tenant, ...known, leads_to: 'provider' } }),
    )
    await page.route('**/v1/auth/invitation', (route) => {
      sent = route.request().postDataJSON()
      return route.fulfill({ json: { authorize_url: goOn } })
    })
    await page.goto(`${sallyport.base_url}/console/invitation#k=any`)
    await page.getByRole('heading', { name: 'Acme invites you to Sallyport' }).waitFor()
    assert.equal(await page.getByLabel('Passphrase').isVisible(), false)
    await sound(window, 'provider')
    await page.getByRole('button', { name: 'Continue to your organization’s sign-in' }).click()
    await page.waitForURL('**/docs/**')
    assert.deepEqual(sent, { key: 'any', name: 'Ben', timezone: 'Europe/Berlin' })
    await page.goBack()
    await page.getByRole('heading', { name: 'Sign in at your organization' }).waitFor()
    await sound(window, 'at-provider')
    await page.getByRole('button', { name: 'Continue to your organization’s sign-in' }).click()
    await page.waitForURL('**/docs/**')
  })
})
