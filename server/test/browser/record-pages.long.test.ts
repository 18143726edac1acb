import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { suite, test } from 'node:test'
import { openChromium, skipChromium, type Window } from '../support/chromium.ts'
import type { Person } from '../support/sallyport.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { requireSound } from '../support/sound-page.ts'
import { until } from '../support/wait.ts'

/** The pages of requests and grants as people meet them, in a real browser that runs no script. PICTURES: a folder for a picture of each state. */
const pictures = process.env.PICTURES

suite('a request in a browser that runs no script', { skip: skipChromium }, async () => {
  const sallyport = await startOnTestServer()
  const { tenant_id, api_key } = sallyport.bootstrap
  const owner = sallyport.client({ api_key })
  const openWindow = await openChromium({ runsScripts: false })
  const openScripted = await openChromium()
  const dana = await sallyport.join('Dana', ['user'])
  const ben = await sallyport.join('Ben', ['approver'])
  const policy = await owner('POST', '/v1/policies', { name: 'People decide' })
  const policy_text = 'permit (principal, action, resource);'
  assert.equal((await owner('POST', `/v1/policies/${policy.body.id}/rules`, { policy_text })).status, 201)
  const account = { id: '123456789012', account_id: '123456789012', name: 'payments-prod', metadata: {} }
  assert.equal((await owner('PUT', '/v1/cloud/accounts', { resources: [account] })).status, 200)

  /** The tool that checks a page is a script itself: it sees the same address with the same cookies in a browser that runs it. */
  async function sound({ page }: Window, state: string): Promise<void> {
    const scripted = await openScripted()
    await scripted.page.context().addCookies(await page.context().cookies())
    await scripted.page.goto(page.url())
    await requireSound(scripted, state, pictures === undefined ? undefined : resolve(pictures, `record-${state}`))
    await scripted.page.context().close()
  }
  const phone = { width: 320, height: 568 }

  async function ask(more: object = {}): Promise<string> {
    const made = await dana.call('POST', '/v1/requests', {
      ...{ resource: { type: 'cloud_account', id: '123456789012' }, action: 'ReadOnlyAccess', duration_seconds: 3600 },
      reason: 'Ticket OPS-4711: payments are slow since 14:00, I want to read the logs of the gateway.',
      ...more,
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return String(made.body.id)
  }

  /** Opens a link of a mail on a phone, and signs in. */
  async function signIn({ email, password }: Person, path: string): Promise<Window> {
    const window = await openWindow()
    const { page } = window
    await page.setViewportSize(phone)
    await page.goto(`${sallyport.base_url}${path}?t=${tenant_id}`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Passphrase').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`**${path}`)
    return window
  }

  test('is approved on a small phone in two touches after the sign-in', async () => {
    const id = await ask()
    const window = await openWindow()
    await window.page.goto(`${sallyport.base_url}/requests/${id}?t=${tenant_id}`)
    await sound(window, 'sign-in')
    const signedIn = await signIn(ben, `/requests/${id}`)
    const { page } = signedIn
    for (const name of ['Approve', 'Deny']) {
      const box = await page.getByRole('link', { name, exact: true }).boundingBox()
      assert.ok(
        box !== null && box.height >= 48 && box.y + box.height <= phone.height,
        `${name}: ${JSON.stringify(box)}`,
      )
    }
    const bar = await page.locator('.bar').boundingBox()
    const risk = await page.getByText('Risk', { exact: true }).boundingBox()
    assert.ok(risk !== null && bar !== null && risk.y + risk.height <= bar.y, 'the bar hides the risk')
    if (pictures !== undefined) await page.screenshot({ path: resolve(pictures, 'record-phone.png') })
    await sound(signedIn, 'to-decide')
    await page.setViewportSize(phone)
    await page.getByRole('link', { name: 'Approve', exact: true }).click()
    await page.getByRole('heading', { name: 'Approve this request?' }).waitFor()
    const button = await page.getByRole('button', { name: 'Approve' }).boundingBox()
    assert.ok(button !== null && button.height >= 44)
    await sound(signedIn, 'confirm')
    await page.setViewportSize(phone)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('You approved this').waitFor()
    await sound(signedIn, 'approved')
    const { body } = await dana.call('GET', `/v1/requests/${id}`)
    assert.equal(body.status, 'approved')
  })

  test('is denied with a note, and shows its requester why', async () => {
    const id = await ask({ action: 'AdministratorAccess' })
    const window = await signIn(ben, `/requests/${id}`)
    const { page } = window
    await page.getByRole('link', { name: 'Deny', exact: true }).click()
    await sound(window, 'deny')
    await page.getByLabel('Note').fill('Take ReadOnlyAccess: nothing has to be changed.')
    await page.getByRole('button', { name: 'Deny request' }).click()
    await page.getByText('You denied this').waitFor()
    const requester = await signIn(dana, `/requests/${id}`)
    await requester.page.getByText('Take ReadOnlyAccess').waitFor()
  })

  test('shows its requester who may decide, reminds them, and gives access that the holder ends', async () => {
    const id = await ask()
    const window = await signIn(dana, `/requests/${id}`)
    const { page } = window
    await page.getByText(/Ben.* can approve/).waitFor()
    await sound(window, 'waiting')
    await page.getByRole('button', { name: 'Remind them' }).click()
    await page.getByText('You reminded them').waitFor()
    assert.equal((await ben.call('POST', `/v1/requests/${id}/approve`, {})).status, 200)
    await until('the access is there', async () => {
      await page.reload()
      return page.getByText('How to connect').isVisible()
    })
    await sound(window, 'connect')
    await page.getByRole('link', { name: 'Details' }).click()
    await sound(window, 'grant')
    await page.getByRole('link', { name: 'End access' }).click()
    await page.getByRole('heading', { name: 'End this access?' }).waitFor()
    await sound(window, 'end')
    await page.getByRole('button', { name: 'End access' }).click()
    await page.getByText('Ended by Dana').waitFor()
    await until('the target has confirmed the end', async () => {
      await page.reload()
      return page.getByText('Ended early').isVisible()
    })
  })

  test('that is not there is not found', async () => {
    const window = await signIn(ben, `/requests/${await ask()}`)
    await window.page.goto(`${sallyport.base_url}/requests/${tenant_id}`)
    await window.page.getByRole('heading', { name: 'Not found' }).waitFor()
    await sound(window, 'not-found')
  })
})
