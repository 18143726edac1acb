import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/** “Go anywhere”: a few letters and Enter lead to a page, to what the person has or waits for, and to what they may request. */
suite('going anywhere in the console', { skip: skipChromium }, async () => {
  const { people, signIn, request, sound } = await openConsoleStage()
  const waiting = await request()
  const given = await request({ resource: { type: 'cloud_account', id: '123456789012' } })
  await people.ben.call('POST', `/v1/requests/${given}/approve`, {})
  const window = await signIn('dana', 'me')
  const { page } = window
  const dialog = page.getByRole('dialog', { name: 'Go anywhere' })
  const field = dialog.getByRole('combobox', { name: 'A page, your access, or what you need' })
  const option = (name: RegExp) => dialog.getByRole('option', { name })
  const active = dialog.getByRole('option', { selected: true })
  const opener = page.getByRole('button', { name: 'Go anywhere' })

  async function openGo(text: string): Promise<void> {
    await page.keyboard.press('Control+k')
    await field.waitFor()
    // What is typed goes into the field: it has the focus.
    await page.keyboard.type(text)
  }
  const isActive = (name: RegExp) =>
    until(
      `${name} is active`,
      async () => (await active.count()) === 1 && name.test((await active.textContent()) ?? ''),
    )

  test('shows pages, access and requests, and finds what may be requested', async () => {
    await opener.click()
    await option(/^shop-prod · ReadOnlyAccess/).waitFor()
    await option(/^payments-prod · ReadOnlyAccess.*Waiting/).waitFor()
    assert.equal(await option(/^Inbox/).count(), 0)
    await sound(window, 'go')
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.keyboard.type('pay')
    await option(/^payments-staging · PowerUserAccess/).waitFor()
    await sound(window, 'go-found')
    await page.setViewportSize({ width: 1_440, height: 900 })
    await field.fill('nothing like it')
    await dialog.getByText('Nothing matches “nothing like it”.').waitFor()
    assert.equal(await field.getAttribute('aria-expanded'), 'false')
    await sound(window, 'go-nothing')
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.match((await page.evaluate('document.activeElement.textContent')) as string, /^Go anywhere/)
  })

  test('the arrow keys move, round at both ends, and the field names the active option', async () => {
    await openGo('')
    await isActive(/^Access/)
    await page.keyboard.press('ArrowDown')
    await isActive(/^You/)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await isActive(/payments-prod.*Waiting/)
    assert.equal(await field.getAttribute('aria-activedescendant'), await active.getAttribute('id'))
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/requests/${waiting}`)
    await dialog.waitFor({ state: 'detached' })
  })

  test('Enter leads to a page, to access, and to the form of a request, also before it is found', async () => {
    await openGo('acc')
    await isActive(/^Access/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Access', level: 1 }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    await openGo('shop-prod')
    // What may be requested has the same name, and another place to go.
    await isActive(/^shop-prod · ReadOnlyAccess.*Active/)
    await page.keyboard.press('Enter')
    // The address of access leads on to its request at once where the grant is already loaded, so only the end of the way is certain.
    await page.waitForURL(`**/console/requests/${given}`)
    await openGo('warehouse read')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Request access to data-warehouse' }).waitFor()
    assert.match(page.url(), /id=123456789014&action=ReadOnlyAccess/)
  })

  test('the key closes it too, leaves a question before an act alone, and a click goes there', async () => {
    await openGo('')
    await page.keyboard.press('Control+k')
    await dialog.waitFor({ state: 'detached' })
    await page.goto(page.url().replace(/console\/.*/, 'console/'))
    await page.getByRole('button', { name: /^End access/ }).click()
    await page.getByRole('alertdialog').waitFor()
    await page.keyboard.press('Control+k')
    assert.equal(await dialog.count(), 0)
    await page.keyboard.press('Escape')
    await openGo('you')
    await option(/^You$/).click()
    await page.waitForURL('**/console/me')
  })

  test('an approver finds the inbox', async () => {
    const { page: bens } = await signIn('ben', 'me')
    await bens.keyboard.press('Control+k')
    await bens.getByRole('dialog').getByRole('combobox').waitFor()
    await bens.keyboard.type('inb')
    await bens.getByRole('option', { name: 'Inbox', selected: true }).waitFor()
    await bens.keyboard.press('Enter')
    await bens.waitForURL('**/console/inbox**')
  })
})
