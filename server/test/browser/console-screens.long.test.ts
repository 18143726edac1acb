import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium, type Window } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/**
 * Each screen of requesters and approvers at three widths, light and dark: it fits, axe finds nothing, and the page does nothing that its
 * policy forbids. PICTURES: a folder for a picture of each.
 */
suite('the screens of the console', { skip: skipChromium }, async () => {
  const { sallyport, people, openWindow, signIn, request, sound } = await openConsoleStage()
  const windows = new Map<string, Window>()

  /** A person's window at a page. It is signed in once. */
  async function at(who: 'dana' | 'ben', path: string): Promise<Window> {
    const window = windows.get(who) ?? (await signIn(who))
    windows.set(who, window)
    await window.page.setViewportSize({ width: 1_440, height: 900 })
    await window.page.goto(`${sallyport.base_url}/console/${path}`)
    return window
  }
  const approve = (id: string) => people.ben.call('POST', `/v1/requests/${id}/approve`, { reasoning: 'go ahead' })

  test('the sign-in', async () => {
    const window = await openWindow()
    await window.page.goto(`${sallyport.base_url}/console/`)
    await window.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await sound(window, 'sign-in')
  })

  test('a sign-in that is refused', async () => {
    const window = await openWindow()
    await window.page.goto(`${sallyport.base_url}/console/`)
    await window.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await window.page.getByText(/^Enter your e-mail address/).waitFor()
    await sound(window, 'sign-in-refused')
  })

  test('no access yet', async () => {
    const window = await at('dana', '')
    await window.page.getByText('That is the normal state').waitFor()
    await sound(window, 'access-empty')
  })

  test('what a search finds', async () => {
    const window = await at('dana', '')
    await window.page.getByLabel('What do you need access to?').fill('pay')
    await window.page
      .getByRole('option', { name: /payments-prod/ })
      .first()
      .waitFor()
    await sound(window, 'access-search')
  })

  test('the form of a request', async () => {
    const window = await at('dana', '?type=cloud_account&id=123456789010&action=AdministratorAccess')
    await window.page.getByText('Needs 1 of').waitFor()
    await sound(window, 'request-form')
  })

  test('what is not allowed, and what would be', async () => {
    const window = await at('dana', '?type=cloud_account&id=123456789011&action=AdministratorAccess')
    await window.page.getByText('Not allowed').waitFor()
    await sound(window, 'request-refused')
  })

  test('an emergency', async () => {
    const window = await at('dana', '?type=cloud_account&id=123456789012&action=AdministratorAccess')
    await window.page.getByRole('button', { name: 'Emergency access' }).click()
    await window.page.getByText('At once.').waitFor()
    await sound(window, 'emergency')
  })

  test('a request that waits, for its requester', async () => {
    const id = await request()
    const window = await at('dana', `requests/${id}`)
    await window.page.getByText(/can approve\./).waitFor()
    await sound(window, 'request-waiting')
    await at('dana', '')
    await window.page.getByText(/can approve\./).waitFor()
  })

  test('the inbox, and the request in it', async () => {
    await people.dana.call('POST', '/v1/requests', {
      ...{ resource: { type: 'cloud_account', id: '123456789010' }, action: 'AdministratorAccess' },
      ...{ reason: 'rotate the signing keys', duration_seconds: 1_800 },
    })
    const window = await at('ben', 'inbox')
    await window.page.getByRole('button', { name: /Approve for/ }).waitFor()
    await sound(window, 'inbox')
  })

  test('a request that was approved, and the access that it gave', async () => {
    const id = await request({ resource: { type: 'cloud_account', id: '123456789012' } })
    await approve(id)
    const window = await at('dana', `requests/${id}`)
    await window.page.getByText(/ left$/).waitFor()
    await sound(window, 'request-active')
  })

  test('access that the person has, and the question before it ends', async () => {
    const window = await at('dana', '')
    await window.page.getByRole('button', { name: /^End access/ }).click()
    await window.page.getByRole('alertdialog').waitFor()
    await sound(window, 'access-end')
    await window.page.getByRole('alertdialog').getByRole('button', { name: 'End access' }).click()
    await window.page.getByText('Ended today').click()
    await window.page.getByText('Ended early').waitFor()
    await sound(window, 'access-ended')
  })

  test('the notifications', async () => {
    const window = await at('dana', '')
    await window.page
      .getByRole('button', { name: /^Notifications/ })
      .first()
      .click()
    await window.page.getByRole('dialog').getByRole('listitem').first().waitFor()
    await sound(window, 'notifications')
  })

  test('a page that does not exist', async () => {
    const window = await at('dana', 'requests/01a218f5-b3b7-72cb-8e45-591e4ea7afdd')
    await window.page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
    await sound(window, 'not-found')
  })

  test('the directories of an administrator, and on a phone the way there', async () => {
    const kim = await sallyport.join('Kim Novak', ['admin'])
    await kim.call('POST', '/v1/identity-providers', { name: 'Our Entra ID', provider_type: 'custom_scim' })
    const window = await signIn(kim, '', { width: 320, height: 568 })
    const { page } = window
    const more = page.getByRole('button', { name: 'More', exact: true })
    const directories = page.getByRole('link', { name: 'Directories', exact: true })
    await more.click()
    await directories.waitFor()
    await page.keyboard.press('Escape')
    await directories.waitFor({ state: 'detached' })
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'More')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Directories')
    await sound(window, 'more')
    await page.setViewportSize({ width: 320, height: 568 })
    await directories.click()
    await page.getByRole('heading', { name: 'Our Entra ID' }).waitFor()
    await until('it folds', async () => (await more.getAttribute('aria-expanded')) === 'false')
    await sound(window, 'directories')
  })

  test('the words in German', async () => {
    await people.ben.call('PATCH', '/v1/users/me/preferences', { locale: 'de' })
    await request({ resource: { type: 'cloud_account', id: '123456789014' } })
    const window = await at('ben', 'inbox')
    await window.page.getByRole('button', { name: /genehmigen/ }).waitFor()
    await sound(window, 'inbox-german')
  })
})
