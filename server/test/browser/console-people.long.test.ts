import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/** An administrator invites colleagues, and sees who has not joined yet. */
suite('inviting colleagues in the console', { skip: skipChromium }, async () => {
  const { sallyport, signIn, sound } = await openConsoleStage()
  const kim = await sallyport.join('Kim Novak', ['admin'])
  const window = await signIn(kim, 'start')
  const { page } = window
  const form = page.getByRole('form', { name: 'Invite a colleague' })
  const invite = page.getByRole('button', { name: 'Invite', exact: true })
  const link = page.getByText(/\/console\/invitation#k=/)
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })

  async function fill(name: string, email: string, role = 'Request access'): Promise<void> {
    await form.getByLabel('E-mail address').fill(email)
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByRole('radio', { name: role, exact: true }).check()
  }
  const keyShown = async () => (await link.textContent())?.split('#k=')[1]
  const check = async (key: string | undefined) =>
    (await sallyport.client(undefined)('POST', '/v1/auth/invitation/check', { key })).status
  const focused = () => page.evaluate('document.activeElement.textContent') as Promise<string>

  test('what is missing is said at its field', async () => {
    await page.getByText('Nobody is invited at the moment.').waitFor()
    await sound(window, 'invite-empty')
    await invite.click()
    await page.getByText('Enter an e-mail address').waitFor()
    await page.getByText('Enter a name.').waitFor()
    await until(
      'the focus is on the first fault',
      async () => (await page.evaluate('document.activeElement.type')) === 'email',
    )
    await sound(window, 'invite-missing')
  })

  test('the link is shown once, works, and gives what was chosen', async () => {
    await fill('Cleo Hart', 'cleo@example.com', 'Request access, and approve')
    await invite.click()
    await page.getByRole('heading', { name: 'Invited. Send this link to Cleo Hart.' }).waitFor()
    await until('the news has the focus', async () => (await focused()).startsWith('Invited.'))
    await page.getByText('No mail was sent, because the service has no mail server.').waitFor()
    await row('Cleo Hart').getByText('Invited', { exact: true }).waitFor()
    await sound(window, 'invite-link')
    assert.equal(await check(await keyShown()), 200)
    const found = await kim.call<{ data: { roles: string[] }[] }>('GET', '/v1/users?q=cleo@example')
    assert.deepEqual(
      found.body.data.map(({ roles }) => roles),
      [['approver']],
    )
    await page.reload()
    await row('Cleo Hart').waitFor()
    assert.equal(await link.count(), 0)
  })

  test('an address that is taken is said at the field, and what was entered stays', async () => {
    await fill('Cleo again', 'cleo@example.com')
    await invite.click()
    await page.getByText('A user has this address already.').waitFor()
    assert.equal(await form.getByLabel('Name', { exact: true }).inputValue(), 'Cleo again')
    await sound(window, 'invite-taken')
  })

  test('a new link ends the one before, and a withdrawn one works no more', async () => {
    await fill('Dov Stern', 'dov@example.com')
    await invite.click()
    await page.getByRole('heading', { name: /^Invited\..*Dov Stern/ }).waitFor()
    const first = await keyShown()
    await page.getByRole('button', { name: 'New link for Dov Stern' }).click()
    await page.getByRole('heading', { name: /^A new link for Dov Stern/ }).waitFor()
    const second = await keyShown()
    assert.deepEqual([await check(first), await check(second)], [401, 200])
    await page.getByRole('button', { name: 'Withdraw the invitation of Dov Stern' }).click()
    await page.getByRole('alertdialog', { name: 'Withdraw the invitation of Dov Stern?' }).waitFor()
    await sound(window, 'invite-withdraw')
    await page.getByRole('button', { name: 'Withdraw invitation' }).click()
    await row('Dov Stern').getByText('Withdrawn', { exact: true }).waitFor()
    assert.deepEqual([await link.count(), await check(second)], [0, 401])
  })

  test('who joins leaves the list by themselves', async () => {
    await page.getByRole('button', { name: 'New link for Cleo Hart' }).click()
    await page.getByRole('heading', { name: /^A new link for Cleo Hart/ }).waitFor()
    const body = { key: await keyShown(), password: 'four random words here' }
    const joined = await sallyport.client(undefined)('POST', '/v1/auth/invitation', body)
    assert.equal(joined.status, 200, JSON.stringify(joined.body))
    await row('Cleo Hart').waitFor({ state: 'detached' })
    assert.equal(await row('Dov Stern').count(), 1)
  })

  test('after an hour, the invitation goes on when the person has signed in again', async () => {
    // As a live tenant answers, where an administrator has a second factor.
    const message = 'this needs a sign-in within the last hour; sign in again, then send it again'
    const old = { code: 'sign_in_again', message, details: { acr: null, max_age: 3_600 } }
    await page.route('**/v1/invitations', (route) => route.fulfill({ status: 403, json: old }), { times: 1 })
    await fill('Eli Wood', 'eli@example.com')
    await invite.click()
    await page.getByRole('button', { name: 'Sign in again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail address').fill(kim.email)
    await dialog.getByLabel('Passphrase').fill(kim.password)
    await dialog.getByLabel('Organization').fill(sallyport.bootstrap.tenant_id)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Invited. Send this link to Eli Wood.' }).waitFor()
  })

  test('who may invite nobody sees nothing of it, and words are in German too', async () => {
    const dana = await signIn('dana', 'start')
    assert.equal(await dana.page.getByRole('heading', { name: 'Invite a colleague' }).count(), 0)
    await kim.call('PATCH', '/v1/users/me/preferences', { locale: 'de' })
    await page.reload()
    await page.getByRole('button', { name: 'Neuer Link für Eli Wood' }).waitFor()
    await sound(window, 'invite-german')
  })
})
