import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import type { Person } from '../support/sallyport.ts'
import { type TotpApp, totpApp } from '../support/totp-app.ts'

/** A person sets up an authenticator app, and signs in with it and with a recovery code. */
suite('a second factor in the console', { skip: skipChromium }, async () => {
  const { sallyport, openWindow, signIn, enter, sound } = await openConsoleStage()
  const person = await sallyport.join('Ines Juhl', ['user'])
  const window = await signIn(person, 'me')
  const { page } = window
  const codeField = (on: Page) => on.getByLabel('Code from your authenticator app')
  let app: TotpApp
  let codes: string[] = []

  /** A code counts once, and the app shows the same one for 30 seconds. */
  const forgetUse = ({ id }: Person) =>
    sallyport.asSuperuser('update second_factor set last_step = 0 where user_id = $1', [id])
  const confirmed = async () => {
    const rows = await sallyport.asSuperuser<{ id: string }>(
      'select id from second_factor where user_id = $1 and confirmed_at is not null',
      [person.id],
    )
    return rows.length
  }

  /** A new browser in which the person has entered the passphrase. */
  async function atSecondStep() {
    const next = await openWindow()
    await next.page.goto(`${sallyport.base_url}/console/`)
    await enter(next, person)
    await next.page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    assert.equal(await next.page.getByRole('navigation').count(), 0)
    return next
  }
  const isIn = (on: Page) => on.getByRole('navigation', { name: 'Main' }).first().waitFor()

  test('an app is set up only by a code of its own', async () => {
    await page.getByText('You have none.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('phone')
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    await page.getByRole('heading', { name: 'Set up your authenticator app' }).waitFor()
    const secret = ((await page.locator('form code').textContent()) ?? '').replaceAll(' ', '')
    assert.match(secret, /^[A-Z2-7]{32,}$/)
    const link = (await page.getByRole('link', { name: 'Open the app' }).getAttribute('href')) ?? ''
    assert.equal(new URL(link).searchParams.get('secret'), secret)
    app = totpApp(secret)
    await sound(window, 'me-app')
    for (const [entry, said] of [
      ['12 345', 'Six digits'],
      [app.wrong(), 'Is not the code that the app shows now'],
    ] as const) {
      await codeField(page).fill(entry)
      await page.getByRole('button', { name: 'Confirm the app' }).click()
      await codeField(page).and(page.locator(':focus[aria-invalid=true]')).waitFor()
      await page.locator('form').getByText(said).waitFor()
    }
    assert.equal(await confirmed(), 0)
    assert.equal((await person.call('GET', '/v1/users/me')).status, 200)
  })

  test('its right code adds it, and the recovery codes are shown this once', async () => {
    const code = app.code()
    await codeField(page).fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await page.getByRole('button', { name: 'Confirm the app' }).click()
    await page.getByText('“phone” is added. The next sign-in asks for it.').waitFor()
    assert.equal(await confirmed(), 1)
    assert.equal((await person.call('GET', '/v1/users/me')).status, 401, 'a sign-in without it')
    const heading = page.getByRole('heading', { name: 'Recovery codes' })
    await heading.and(page.locator(':focus')).waitFor()
    codes = await page.locator('h3:has-text("Recovery codes") ~ ul > li').allTextContents()
    assert.equal(new Set(codes).size, 10)
    await page.getByText('You have 10 recovery codes left.').waitFor()
    await sound(window, 'me-recovery-codes')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await heading.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('You have 10 recovery codes left.').waitFor()
    const html = await page.content()
    assert.deepEqual(
      codes.filter((kept) => html.includes(kept)),
      [],
    )
  })

  test('a sign-in asks for a code, refuses a wrong one, and accepts the right one', async () => {
    await forgetUse(person)
    const next = await atSecondStep()
    await codeField(next.page).fill(app.wrong(1))
    await next.page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await next.page.getByText('This code is not accepted. Enter the newest one.').waitFor()
    assert.equal(await next.page.getByRole('navigation').count(), 0)
    await codeField(next.page).fill(app.code())
    await next.page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await isIn(next.page)
    assert.deepEqual(next.complaints, [])
  })

  test('a recovery code signs in once in place of the app', async () => {
    const [code = ''] = codes
    for (const isFirst of [true, false]) {
      const next = await atSecondStep()
      await next.page.getByRole('button', { name: 'Use a recovery code' }).click()
      await next.page.getByLabel('Recovery code').fill(code)
      await next.page.getByRole('button', { name: 'Confirm', exact: true }).click()
      if (isFirst) await isIn(next.page)
      else await next.page.getByText('This code is not accepted.').waitFor()
      assert.deepEqual(next.complaints, [])
    }
    await page.reload()
    await page.getByText('You have 9 recovery codes left.').waitFor()
  })

  test('a sign-in of long ago cannot remove the app: a new one over the page can', async () => {
    await sallyport.asSuperuser(
      `update user_session set auth_time = clock_timestamp() - interval '2 hours' where user_id = $1`,
      [person.id],
    )
    await page.getByRole('button', { name: 'Remove phone' }).click()
    const asked = page.getByRole('alertdialog')
    await asked.getByText('Then your passphrase alone signs you in').waitFor()
    await asked.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('This needs a sign-in within the last hour').waitFor()
    await asked.waitFor({ state: 'detached' })
    assert.equal(await confirmed(), 1)
    await forgetUse(person)
    await page.getByRole('button', { name: 'Sign in again' }).click()
    const again = page.getByRole('dialog')
    await again.getByLabel('E-mail address').fill(person.email)
    await again.getByLabel('Organization').fill(sallyport.bootstrap.tenant_id)
    await again.getByLabel('Passphrase').fill(person.password)
    await again.getByRole('button', { name: 'Sign in', exact: true }).click()
    await codeField(page).fill(app.code())
    await page.getByRole('button', { name: 'Confirm', exact: true }).click()
    await page.getByText('phone is removed.').waitFor()
    await page.getByText('You have none.').waitFor()
    await signIn(person)
  })
})
