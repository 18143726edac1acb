import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openChromium, skipChromium, type Window } from '../support/chromium.ts'
import { startOnTestServer, startScript, urlOf } from '../support/sallyport.ts'
import { requireSound } from '../support/sound-page.ts'

/** The page of the setup link as a person meets it, in a real browser. PICTURES: a folder for a picture of each state. */
const pictures = process.env.PICTURES

suite('the first owner, in a browser', { skip: skipChromium }, async () => {
  const sallyport = await startOnTestServer()
  const openWindow = await openChromium()
  const { tenant_id, admin } = sallyport.bootstrap
  const anna = { name: 'Anna Owner', email: 'anna@acme.example', password: 'four random words here' }
  const first = linkIn(sallyport.output())

  const sound = (window: Window, state: string) =>
    requireSound(window, state, pictures === undefined ? undefined : join(pictures, state))

  async function open(url: string, heading: string): Promise<Window> {
    const window = await openWindow()
    await window.page.goto(url)
    await window.page.getByRole('heading', { name: heading }).waitFor()
    return window
  }

  /** `owned`: the heading at the end. */
  async function fillIn({ page }: Window, entries: Record<string, string>): Promise<void> {
    for (const [label, text] of Object.entries(entries)) await page.getByLabel(label).fill(text)
    await page.getByRole('button', { name: 'Become the owner' }).click()
  }

  test('a link that is not complete, or never was one, says what to do', async () => {
    const address = `${sallyport.base_url}/console/setup`
    for (const [state, url] of Object.entries({ none: address, wrong: `${address}#k=wrong` })) {
      const window = await open(url, 'This link does not work')
      assert.match((await window.page.textContent('main')) ?? '', /npm run admin -- setup-link/)
      await sound(window, state)
    }
  })

  test('a new link ends the one before', async () => {
    const { service } = sallyport
    const env = { DATA_DIR: sallyport.data_dir, DATABASE_URL: urlOf(service), PUBLIC_URL: sallyport.base_url }
    const made = startScript('admin', ['setup-link'], env)
    assert.equal(await made.end(), 0, made.output())
    await open(first, 'This link does not work')
    await open(linkIn(made.output()), 'Welcome. Who are you?')
    last = linkIn(made.output())
  })
  let last = first

  test('what is missing or wrong is said at its field, and nothing is lost', async () => {
    const window = await open(last, 'Welcome. Who are you?')
    await sound(window, 'welcome')
    await fillIn(window, { 'Your name': anna.name })
    assert.equal(await window.page.getByText('Fill this in.').count(), 2)
    await fillIn(window, { 'E-mail address': 'anna', Passphrase: 'short' })
    await window.page.getByText(/has 5 characters: use at least 15/).waitFor()
    assert.match((await window.page.textContent('#email-hint')) ?? '', /must be one e-mail address/)
    assert.equal(await window.page.inputValue('#name'), anna.name)
    await sound(window, 'wrong')
  })

  test('the owner is set up, is signed in, and signs in again with what they entered', async () => {
    const window = await open(last, 'Welcome. Who are you?')
    await fillIn(window, {
      'Your name': anna.name,
      'E-mail address': anna.email,
      Organization: 'Acme Corporation',
      Passphrase: anna.password,
    })
    await window.page.getByRole('heading', { name: 'You own Acme Corporation' }).waitFor()
    assert.equal(await window.page.textContent('#tenant'), tenant_id)
    assert.ok(!window.page.url().includes('#'), 'the address still holds the key')
    await window.page.reload()
    await window.page.getByRole('heading', { name: 'You own Acme Corporation' }).waitFor()
    assert.equal(await window.page.textContent('#tenant'), tenant_id)
    assert.equal(await window.page.textContent('#address'), anna.email)
    await sound(window, 'done')
    const own = await window.page.evaluate(`fetch('/v1/users/me/preferences').then((reply) => reply.json())`)
    assert.equal((own as { timezone?: string }).timezone, 'Europe/Berlin')
    const zone = await window.page.evaluate(`fetch('/v1/settings/timezone.default').then((reply) => reply.json())`)
    assert.equal((zone as { value?: string }).value, 'Europe/Berlin')

    const signIn = sallyport.client(undefined)
    const { email, password } = anna
    assert.equal((await signIn('POST', '/v1/auth/login', { email, password })).status, 200)
    assert.equal((await signIn('POST', '/v1/auth/login', admin)).status, 401)
    const users = await sallyport.client({ api_key: sallyport.bootstrap.api_key })('GET', '/v1/users')
    const listed = users.body.data as { email: string; name: string; is_owner: boolean }[]
    assert.deepEqual(
      listed.map((user) => [user.name, user.email, user.is_owner]),
      [[anna.name, anna.email, true]],
    )
  })

  test('a time zone that the server does not know is left to the client', async () => {
    const window = await openWindow()
    const sent: unknown[] = []
    await window.page.route('**/v1/auth/setup-link/check', (route) =>
      route.fulfill({
        json: { tenant: { id: tenant_id, name: 'default' }, expires_at: new Date(), password_min_length: 15 },
      }),
    )
    await window.page.route('**/v1/auth/setup-link', (route) => {
      const body = route.request().postDataJSON() as { timezone?: string }
      sent.push(body.timezone)
      const fields = [{ pointer: '/timezone', why: 'must be a time zone as IANA names it' }]
      return body.timezone === undefined
        ? route.fulfill({ json: { token: 'none' } })
        : route.fulfill({ status: 400, json: { code: 'invalid_input', message: 'no zone', details: { fields } } })
    })
    await window.page.goto(`${sallyport.base_url}/console/setup#k=any`)
    await window.page.getByRole('heading', { name: 'Welcome. Who are you?' }).waitFor()
    await fillIn(window, { 'Your name': anna.name, 'E-mail address': anna.email, Passphrase: anna.password })
    await window.page.getByRole('heading', { name: 'You own default' }).waitFor()
    assert.deepEqual(sent, ['Europe/Berlin', undefined])
  })

  test('the link works once', async () => {
    await open(last, 'This link does not work')
  })

  test('without an answer the page says so, and tries again', async () => {
    const window = await openWindow()
    let answers = false
    await window.page.route('**/v1/auth/**', (route) => (answers ? route.continue() : route.abort()))
    await window.page.goto(`${sallyport.base_url}/console/setup#k=wrong`)
    await window.page.getByRole('heading', { name: 'The link could not be checked' }).waitFor()
    await sound(window, 'unreachable')
    answers = true
    await window.page.getByRole('button', { name: 'Try again' }).click()
    await window.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
  })
})

function linkIn(output: string): string {
  const [, link] = /Open (http\S+\/console\/setup#k=\S+)/.exec(output) ?? []
  assert.ok(link, `no link in:\n${output}`)
  return link
}
