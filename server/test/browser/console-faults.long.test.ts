import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { administratorNotice, openConsoleStage } from '../support/console-stage.ts'
import { freePort } from '../support/free-port.ts'
import { openRelay } from '../support/relay.ts'
import { until } from '../support/wait.ts'

/** What can go wrong while a person works, and what they read then. */
suite('the console when something goes wrong', { skip: skipChromium }, async () => {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const { sallyport, people, signIn, enter, request } = await openConsoleStage({ PUBLIC_URL: address })
  const relay = await openRelay(port, sallyport.base_url)

  test('a session that is over asks for a sign-in over the page, and the note is kept', async () => {
    const id = await request()
    const ben = await signIn('ben', `requests/${id}`)
    await ben.page.getByLabel('Note').fill('only while I watch')
    await people.ben.call('DELETE', '/v1/users/me/sessions')
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).click()
    await ben.page.getByText('Your session is over. Sign in to go on.').waitFor()
    await enter(ben, 'ben')
    await ben.page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await ben.page.getByLabel('Note').inputValue(), 'only while I watch')
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).click()
    await ben.page.getByText(/Ben Marsh approved this at/).waitFor()
    const decided = await people.dana.call<{ decision_reasoning: string }>('GET', `/v1/requests/${id}`)
    assert.equal(decided.body.decision_reasoning, 'only while I watch')
  })

  test('a sign-in by another person starts over: nothing of the former one is left', async () => {
    const id = await request()
    const window = await signIn('ben', `requests/${id}`)
    await window.page.getByLabel('Note').fill('for my eyes')
    await people.ben.call('DELETE', '/v1/users/me/sessions')
    await window.page.getByRole('button', { name: 'Approve for 1 h' }).click()
    await window.page.getByText('Your session is over.').waitFor()
    await enter(window, 'ada')
    await window.page.getByRole('dialog').waitFor({ state: 'detached' })
    await until('the note of the other is gone', async () => (await window.page.getByLabel('Note').inputValue()) === '')
    assert.equal(
      await window.page.evaluate('Object.keys(sessionStorage).filter((key) => key.includes("draft")).length'),
      0,
    )
    await people.dana.call('DELETE', `/v1/requests/${id}`)
  })

  test('who decides a moment too late reads who was faster, before and after the page knows', async () => {
    const id = await request()
    const ben = await signIn('ben', `requests/${id}`)
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).waitFor()
    // The page does not learn of it before the click.
    await ben.page.route(`**/v1/requests/${id}`, (route) => route.abort())
    await ben.page.route('**/approve', async (route) => {
      await ben.page.unroute(`**/v1/requests/${id}`)
      await route.continue()
    })
    await people.ada.call('POST', `/v1/requests/${id}/deny`, { reasoning: 'not today' })
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).click()
    await ben.page.getByText(/Ada Okafor denied this at .*Nothing left to do\./).waitFor()
    await ben.page.getByText('not today').first().waitFor()
  })

  test('a refusal by policy shows the notice of the rule, and its form goes on', async () => {
    const { page } = await signIn('dana', '?type=cloud_account&id=123456789010&action=AdministratorAccess')
    await page.getByLabel('Reason').fill('patch the ledger')
    await page.getByText('Other', { exact: true }).click()
    await page.getByLabel('Minutes').fill('90')
    await page.getByText(/Enter whole minutes, from 1 to 60/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Request access' }).isDisabled(), true)
    await page.getByText('30 min', { exact: true }).click()
    await page.route('**/v1/requests', (route) => {
      const sent = route.request().postDataJSON() as { duration_seconds: number }
      return route.continue({ postData: JSON.stringify({ ...sent, duration_seconds: 7_200 }) })
    })
    await page.getByRole('button', { name: 'Request access' }).click()
    const notice = page.getByText(administratorNotice)
    await notice.waitFor()
    assert.equal(await notice.count(), 1)
    assert.equal(await page.getByLabel('Reason').inputValue(), 'patch the ledger')
  })

  test('what is not allowed says so before it is sent, and one click makes it what is', async () => {
    const { page } = await signIn('dana', '?type=cloud_account&id=123456789012&action=AdministratorAccess')
    const send = page.getByRole('button', { name: 'Request access' })
    await page.getByRole('button', { name: 'Emergency access' }).click()
    await page.getByText('8 h', { exact: true }).click()
    await page.getByText('At once.').waitFor()
    await page.getByRole('button', { name: 'It is no emergency' }).click()
    await page.getByText('Not allowed for so long; at most 1 h.').waitFor()
    await page.getByText(administratorNotice).waitFor()
    await until('it cannot be sent', () => send.isDisabled())
    await page.getByRole('button', { name: 'Use 1 h' }).click()
    await page.getByText('Needs 1 of').waitFor()
    await until('it can be sent', () => send.isEnabled())
  })

  test('without the service a line says so, and the page follows again when it is back', async () => {
    const { page } = await signIn('dana')
    relay.cut()
    await page.getByText('The service does not answer.').first().waitFor()
    const id = await request({ resource: { type: 'cloud_account', id: '123456789014' } })
    relay.repair()
    await page.getByText('The service does not answer.').waitFor({ state: 'detached' })
    await page.getByText('data-warehouse').first().waitFor()
    await people.dana.call('DELETE', `/v1/requests/${id}`)
  })

  test('a page whose record is not there, and one of an address that does not exist', async () => {
    const { page } = await signIn('dana', 'requests/01a218f5-b3b7-72cb-8e45-591e4ea7afdd')
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
    await page.goto(`${address}/console/nothing/here`)
    await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
    await page.getByRole('link', { name: 'Go to your access' }).click()
    await page.getByRole('heading', { name: 'Access' }).waitFor()
  })
})
