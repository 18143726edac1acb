import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openChromium, type Page, skipChromium } from '../support/chromium.ts'
import { startOnTestServer } from '../support/sallyport.ts'

/** The page of the API reference: its reader enters the tenant and the credentials once, and every call of the page sends them. */
suite('the reference of the API in a browser', { skip: skipChromium, concurrency: false }, async () => {
  if (skipChromium !== false) return
  const { base_url, bootstrap, join } = await startOnTestServer()
  const ada = await join('Ada', ['user'])
  const openWindow = await openChromium()
  const { page, complaints } = await openWindow()

  async function enter(fields: Readonly<Record<string, string>>) {
    await page.locator('.auth-wrapper .authorize').first().click()
    for (const [name, value] of Object.entries(fields)) {
      const scheme = page.locator('.auth-container').filter({ has: page.locator(`h4 code:text-is("${name}")`) })
      await scheme.locator('input').fill(value)
      await scheme.getByRole('button', { name: 'Apply credentials' }).click()
    }
    await page.locator('.modal-ux-header .close-modal').click()
  }

  test('calls that need different credentials get them, with the tenant, from what was entered once', async () => {
    await page.goto(`${base_url}/docs/`)
    await enter({ tenant: bootstrap.tenant_id, api_key: bootstrap.api_key, token: ada.token })
    assert.equal(await statusOf(page, 'cloud/listCloudAccounts'), '403', 'Ada may not: her token counts')
    assert.equal(await statusOf(page, 'users/getOwnProfile'), '200')
    assert.equal(await statusOf(page, 'requests/listRequests'), '200')
  })

  test('nothing of them is kept beyond the tab', async () => {
    assert.equal(await page.evaluate('JSON.stringify([localStorage, document.cookie])'), '[{},""]')
    const other = await page.context().newPage()
    assert.equal(await statusOf(other, 'users/getOwnProfile'), '401')
    await other.close()
  })

  test('a form is filled with the example', async () => {
    const operation = await tryOut(page, 'requests/approveRequest')
    assert.match(await operation.locator('textarea').first().inputValue(), /"reasoning": "go ahead"/)
    assert.equal(
      await operation.locator('[data-param-name=id] input').inputValue(),
      '01a21c50-ecfb-767e-961f-1d1e40abf60f',
    )
    assert.deepEqual(complaints, [])
  })

  /** Loads the page again with a link to an operation, since it shows only those that are in view, and unfolds its form. */
  async function tryOut(window: Page, name: string) {
    await window.goto('about:blank')
    await window.goto(`${base_url}/docs/#/${name}`)
    const operation = window.locator(`#operations-${name.replace('/', '-')}`)
    await operation.getByRole('button', { name: 'Try it out' }).click()
    return operation
  }

  /** Tries an operation, and returns the status that the page shows. */
  async function statusOf(window: Page, name: string): Promise<string> {
    const operation = await tryOut(window, name)
    await operation.locator('.execute').click()
    const status = operation.locator('.live-responses-table tbody .response-col_status').first()
    return /\d+/.exec((await status.textContent()) ?? '')?.[0] ?? ''
  }
})
