import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { insertRequests } from '../support/insert-requests.ts'
import { until } from '../support/wait.ts'

/** A person sets how they read the console and what is mailed to them, changes their passphrase, and ends sessions. */
suite('what people set of themselves', { skip: skipChromium }, async () => {
  const { sallyport, people, openWindow, signIn, sound } = await openConsoleStage()
  const { tenant_id } = sallyport.bootstrap
  const join = (name: string) => sallyport.join(name, ['user'])
  const save = (page: Page) =>
    page.getByRole('button', { name: /^(Save preferences|Einstellungen speichern)$/ }).click()
  const over = 'Your session is over. Sign in to go on.'

  /** On a day with one digit in month and day, and in the evening: each format, zone and language shows it in another way. */
  const created_at = '2026-03-05T17:04:07Z'
  const old = await insertRequests(sallyport, tenant_id, {
    ...{ requester_id: people.dana.id, created_at, id: '123456789010', action: 'ReadOnlyAccess' },
    ...{ status: 'cancelled', reason: 'in the past' },
  })
  /** How a window shows that moment at its page. */
  const shown = (page: Page) => page.locator('time').first().textContent()
  const shows = (page: Page, text: string) =>
    until(`it shows ${text}`, async () => (await shown(page))?.replaceAll(/\s/g, ' ') === text)
  const toRequest = (page: Page) => page.goto(`${sallyport.base_url}/console/requests/${old}`)
  const toMe = (page: Page) => page.getByRole('link', { name: /^(You|Sie)$/ }).click()

  test('a language applies at once, to the words and to the dates of every page', async () => {
    const window = await signIn('dana', `requests/${old}`)
    const { page } = window
    await shows(page, 'Mar 5, 2026, 6:04 PM')
    await toMe(page)
    await page.getByLabel('Language', { exact: true }).selectOption('de')
    await page.getByText(/^This moment: \d\d\.\d\d\.\d{4}, \d\d:\d\d$/).waitFor()
    await page.getByRole('heading', { name: 'Profile and preferences' }).waitFor()
    await save(page)
    await page.getByRole('heading', { name: 'Profil und Einstellungen' }).waitFor()
    await page.getByText('Ihre Einstellungen sind gespeichert.').waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'de')
    await page.getByRole('link', { name: 'Zugriff' }).first().click()
    await page.getByRole('heading', { name: 'Zugriff', exact: true }).waitFor()
    await page.goBack()
    await page
      .getByText(/seit \d\d:\d\d/)
      .first()
      .waitFor()
    await sound(window, 'me-german')
    await toRequest(page)
    await shows(page, '05.03.2026, 18:04')
  })

  test('a zone and formats apply to every date, and leave again with the choice', async () => {
    await people.dana.call('PATCH', '/v1/users/me/preferences', { locale: 'en' })
    const { page } = await signIn('dana', 'me')
    const choose = async (format: string) => {
      await toMe(page)
      await page.getByText(format, { exact: true }).click()
      await save(page)
      await page.getByText('Your preferences are saved.').first().waitFor()
    }
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    for (const [format, expected] of [
      ['DD/MM/YYYY', '06/03/2026, 2:04 AM'],
      ['24 hours', '06/03/2026, 02:04'],
      ['YYYY-MM-DD', '2026-03-06, 02:04'],
      ['MM/DD/YYYY', '03/06/2026, 02:04'],
      ['12 hours', '03/06/2026, 2:04 AM'],
    ] as const) {
      await choose(format)
      await toRequest(page)
      await shows(page, expected)
    }
    assert.equal(await page.locator('time').first().getAttribute('title'), '2026-03-05 17:04:07 UTC')
    await toMe(page)
    await page.getByLabel('Time zone').selectOption({ label: 'As this device (Europe/Berlin)' })
    for (const formats of ['Dates', 'Times'])
      await page.getByRole('group', { name: formats }).getByText('As the language').click()
    await save(page)
    await page.getByText('Your preferences are saved.').first().waitFor()
    await toRequest(page)
    await shows(page, 'Mar 5, 2026, 6:04 PM')
  })

  test('what another window saved meanwhile is not overwritten unseen', async () => {
    const eve = await join('Eve Adler')
    const { page } = await signIn(eve, 'me')
    await page.getByText('DD/MM/YYYY', { exact: true }).click()
    await eve.call('PATCH', '/v1/users/me/preferences', { time_format: '24h', date_format: 'YYYY-MM-DD' })
    await save(page)
    await page.getByText('It was changed in another window meanwhile.').waitFor()
    await until('it shows the newest', () => page.getByLabel('24 hours').isChecked())
    assert.equal(await page.getByLabel('DD/MM/YYYY').isChecked(), true, 'what the person chose stays')
    await save(page)
    await page.getByText('Your preferences are saved.').waitFor()
    const stored = await eve.call<Record<string, unknown>>('GET', '/v1/users/me/preferences')
    assert.deepEqual([stored.body.time_format, stored.body.date_format], ['24h', 'DD/MM/YYYY'])
  })

  test('a passphrase is changed: what is wrong is said at its field, and other sessions end', async () => {
    const person = await join('Finn Berg')
    const [here, there] = [await signIn(person, 'me'), await signIn(person, 'me')]
    const { page } = here
    const [present, next] = [page.getByLabel('Current passphrase'), page.getByLabel('New passphrase')]
    const change = async (one: string, other: string) => {
      await present.fill(one)
      await next.fill(other)
      await page.getByRole('button', { name: 'Change passphrase' }).click()
    }
    const wanted = 'seven quiet herons over the weir'
    const isFaulty = async (which: typeof present, said: RegExp) => {
      await which.and(page.locator(':focus[aria-invalid=true]')).waitFor()
      const [id] = ((await which.getAttribute('aria-describedby')) ?? '').split(' ')
      assert.match((await page.locator(`[id="${id}"]`).textContent()) ?? '', said)
    }
    await change('', '')
    await isFaulty(present, /^Enter your current passphrase\.$/)
    await change('not my passphrase', wanted)
    await isFaulty(present, /not|wrong/i)
    await change(person.password, 'short')
    await isFaulty(next, /characters/)
    assert.equal(await present.getAttribute('aria-invalid'), null)
    await sound(here, 'me-passphrase-short')
    await change(person.password, wanted)
    await page.getByText('Your passphrase is changed. Your other sessions have ended.').waitFor()
    assert.deepEqual([await present.inputValue(), await next.inputValue()], ['', ''])
    await there.page.getByText(over).waitFor()
    assert.equal((await person.call('GET', '/v1/users/me')).status, 401, 'the token of another sign-in')
    await page.reload()
    await page.getByRole('heading', { name: 'Profile and preferences' }).waitFor()

    // The former passphrase signs nobody in.
    const dialog = there.page.getByRole('dialog')
    await dialog.getByLabel('E-mail address').fill(person.email)
    await dialog.getByLabel('Organization').fill(tenant_id)
    for (const passphrase of [person.password, wanted]) {
      await dialog.getByLabel('Passphrase').fill(passphrase)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      if (passphrase === person.password)
        await dialog.getByText('The e-mail address, the passphrase or the organization is wrong.').waitFor()
    }
    await dialog.waitFor({ state: 'detached' })
  })

  test('sessions are listed, and one that is ended signs its window out', async () => {
    const person = await join('Gil Haas')
    const there = await signIn(person)
    const here = await signIn(person, 'me')
    const { page } = here
    const rows = page.getByRole('listitem').filter({ hasText: 'at the latest' })
    // The third is the token of the sign-in that joined them.
    await until('all three are listed', async () => (await rows.count()) === 3)
    assert.equal(await rows.filter({ hasText: 'This one' }).count(), 1)
    assert.equal(await rows.filter({ hasText: 'Chrome on Linux' }).count(), 2)
    await rows
      .filter({ hasText: /Token · since \d+:\d\d/ })
      .getByText('node')
      .waitFor()
    await sound(here, 'me-sessions')
    await page.getByRole('button', { name: 'End session: Chrome on Linux' }).click()
    const asked = page.getByRole('alertdialog')
    await asked.getByText('Chrome on Linux is signed out at once.').waitFor()
    await asked.getByRole('button', { name: 'End session' }).click()
    await page.getByText('The session has ended.').waitFor()
    await until('two are left', async () => (await rows.count()) === 2)
    await there.page.getByText(over).waitFor()
    assert.equal((await person.call('GET', '/v1/users/me')).status, 200)

    await page.getByRole('button', { name: 'End all other sessions' }).click()
    await asked.getByRole('button', { name: 'End all other sessions' }).click()
    await page.getByText('1 session has ended.').waitFor()
    await until('this one is left', async () => (await rows.count()) === 1)
    assert.equal((await person.call('GET', '/v1/users/me')).status, 401)
    assert.equal(await page.getByRole('button', { name: 'End all other sessions' }).count(), 0)
    await page.reload()
    await rows.getByText('This one').waitFor()
  })

  test('which notifications are mailed is chosen by their kind', async () => {
    const person = await join('Hana Ito')
    const window = await signIn(person, 'me')
    const { page } = window
    const kind = page.getByLabel('Your access ends soon')
    const mailed = async () => {
      type Mails = { kinds: Record<string, { mail: boolean }> }
      const { body } = await person.call<Mails>('GET', '/v1/users/me/notification-preferences')
      return Object.keys(body.kinds).filter((name) => body.kinds[name]?.mail)
    }
    await page.getByText('Nothing is mailed to you now: your address is not verified.').waitFor()
    const before = await mailed()
    const was = await kind.isChecked()
    assert.equal(was, before.includes('access_ending'))
    await kind.setChecked(!was)
    await page.getByRole('button', { name: 'Save mails' }).click()
    await page.getByText('Your choice is saved.').waitFor()
    const others = (names: string[]) => names.filter((name) => name !== 'access_ending')
    const after = await mailed()
    assert.deepEqual([after.includes('access_ending'), others(after)], [!was, others(before)])
    await page.reload()
    await kind.waitFor()
    assert.equal(await kind.isChecked(), !was)
    await sound(window, 'me-mails')
  })

  test('who signs out is asked to sign in, and their page shows nothing more', async () => {
    const { page } = await signIn('dana', 'me')
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText(people.dana.email).count(), 0)
    const other = await openWindow()
    await other.page.goto(`${sallyport.base_url}/console/me`)
    await other.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
