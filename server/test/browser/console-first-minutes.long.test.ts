import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openChromium, skipChromium, type Window } from '../support/chromium.ts'
import { startOnTestServer } from '../support/sallyport.ts'
import { requireSound } from '../support/sound-page.ts'

/** PICTURES: a folder for a picture of each state. */
const pictures = process.env.PICTURES

/** The first 15 minutes of an organization, from the setup link on, by somebody who has read nothing. It says the seconds and the clicks. */
suite('the first minutes of an owner', { skip: skipChromium }, async () => {
  const sallyport = await startOnTestServer()
  const openWindow = await openChromium()
  const window = await openWindow()
  const { page } = window
  const began = Date.now()
  let clicks = 0

  const sound = async (shown: Window, state: string) => {
    await requireSound(shown, state, pictures === undefined ? undefined : join(pictures, state))
    await shown.page.setViewportSize({ width: 1_440, height: 900 })
  }
  const click = async (on: Page, role: 'button' | 'link', name: string | RegExp) => {
    clicks += 1
    await on
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click()
  }
  const toSetUp = () => click(page, 'link', 'Set up')
  /** The window that a click opens, and what it complains about. */
  const openedBy = async (act: Promise<unknown>): Promise<Window> => {
    const [opened] = await Promise.all([page.context().waitForEvent('page'), act])
    opened.on('pageerror', (error) => window.complaints.push(String(error)))
    return { page: opened, complaints: window.complaints }
  }

  test('the setup link leads to the first steps', async (t) => {
    const [, link = ''] = /Open (http\S+\/console\/setup#k=\S+)/.exec(sallyport.output()) ?? []
    await page.goto(link)
    await page.getByLabel('Your name').fill('Olivia Owner')
    await page.getByLabel('E-mail address').fill('olivia@acme.example')
    await page.getByLabel('Organization').fill('Acme')
    await page.getByLabel('Passphrase').fill('four random words here')
    await click(page, 'button', 'Become the owner')
    await click(page, 'link', 'Go on in the console')
    await page.getByRole('heading', { name: 'What should people get access to?' }).waitFor()
    await sound(window, 'start-new')
    say(t, 'the page of the first steps')
  })

  test('a rehearsal begins with one click, and leads to the first request', async (t) => {
    await click(page, 'button', 'Rehearse first')
    await click(page, 'link', 'Request it')
    await page.getByText('Needs 1 of 2 people: Ada or Ben.').waitFor()
    await page.getByLabel('Reason').fill('look at the logs')
    await click(page, 'button', 'Request access')
    await page.getByText('You cannot decide your own request.').waitFor()
    await sound(window, 'rehearsal-waiting')
    say(t, 'the first request')
  })

  let ben: Window
  test('the owner approves as Ben in a new window, and the first window follows by itself', async (t) => {
    ben = await openedBy(click(page, 'link', 'Continue as Ben in a new window'))
    await ben.page.getByText('Rehearsal: you act as Ben').waitFor()
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).waitFor()
    await sound(ben, 'rehearsal-as-ben')
    await click(ben.page, 'button', 'Approve for 1 h')
    await ben.page.getByText(/^Approved by you|Ben approved this at/).waitFor()
    await page.getByText(/^(1 h|59 min) left$/).waitFor()
    say(t, 'the first access')
  })

  test('Ben’s window stays Ben’s, holds no token in its storage, and never shows what is the owner’s', async () => {
    await ben.page.reload()
    await ben.page.getByText('Rehearsal: you act as Ben').waitFor()
    assert.deepEqual(await ben.page.getByRole('link', { name: 'You', exact: true }).count(), 0)
    await ben.page.getByRole('link', { name: 'Access' }).first().click()
    await ben.page.waitForURL(/\/console\/as\/[0-9a-f-]+\/?$/)
    await ben.page.getByText('That is the normal state').waitFor()
    const stored = await ben.page.evaluate(
      `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])`,
    )
    assert.ok(!/eyJ/.test(String(stored)), String(stored))
    // The owner is still the owner.
    await page.reload()
    await page.getByText(/^(1 h|59 min) left$/).waitFor()
  })

  test('a link from elsewhere begins nothing: a click does', async () => {
    const address = ben.page.url()
    const other = await openedBy(page.evaluate(`void window.open(${JSON.stringify(address)}, '_blank', 'noopener')`))
    await other.page.getByRole('button', { name: 'Act as the colleague' }).waitFor()
    await sound(other, 'rehearsal-act-as')
    const counted = async () => {
      const events = await ownerCalls<{ data: unknown[] }>('GET', '/v1/audit-events?type=user.rehearsal_token_created')
      return events.body.data.length
    }
    const before = await counted()
    await other.page.reload()
    await other.page.getByRole('button', { name: 'Act as the colleague' }).click()
    await other.page.getByText('Rehearsal: you act as Ben').waitFor()
    assert.equal(await counted(), before + 1)
    const closed = other.page.waitForEvent('close')
    await other.page.getByRole('button', { name: 'Close this window' }).click()
    await closed
  })
  const ownerCalls = sallyport.client({ api_key: sallyport.bootstrap.api_key })

  test('what is not allowed says why, and what would be, as a click', async (t) => {
    await toSetUp()
    await click(page, 'link', 'Try it')
    await page.getByText('Not allowed for so long; at most 4 h.').waitFor()
    await sound(window, 'rehearsal-refusal')
    await click(page, 'button', 'Use 4 h')
    await page.getByText('Needs 1 of 2 people: Ada or Ben.').waitFor()
    say(t, 'the first refusal')
  })

  test('a rule approves at once', async (t) => {
    await toSetUp()
    await sound(window, 'start-rehearsing')
    await click(page, 'link', 'See it')
    await page.getByText('At once.', { exact: true }).waitFor()
    await page.getByLabel('Reason').fill('a look')
    await click(page, 'button', 'Request access')
    await page
      .getByText(/Approved by a rule/)
      .first()
      .waitFor()
    await toSetUp()
    await page.getByText('You have seen all of it.').waitFor()
    say(t, 'the end of the rehearsal')
  })

  test('three forms: an account, a rule that says who gains, an invitation', async (t) => {
    const account = page.getByRole('form', { name: 'Add an account' })
    await account.getByLabel('Name', { exact: true }).fill('payments-prod')
    await account.getByLabel('Account number').fill('1234 5678 9012')
    await click(page, 'button', 'Add account')
    await page.getByText('1234 5678 9012').first().waitFor()

    clicks += 1
    await page.getByText('Administrator rights', { exact: true }).click()
    await page
      .getByText(/gains? AdministratorAccess/)
      .first()
      .waitFor()
    await click(page, 'button', 'Add rule')
    await page.getByRole('button', { name: /^Remove: Everyone may get AdministratorAccess/ }).waitFor()

    const invitation = page.getByRole('form', { name: 'Invite a colleague' })
    await invitation.getByLabel('E-mail address').fill('dana@acme.example')
    await invitation.getByLabel('Name', { exact: true }).fill('Dana Lee')
    await click(page, 'button', 'Invite')
    await page.getByText(/\/console\/invitation#k=/).waitFor()
    await sound(window, 'start-done')
    say(t, 'an account, a rule and an invitation')
  })

  test('the colleague joins and asks, and the owner approves', async (t) => {
    const invited = (await page.getByText(/\/console\/invitation#k=/).textContent()) ?? ''
    const dana = await openWindow()
    await dana.page.goto(invited)
    await dana.page.getByLabel('Passphrase').fill('another four random words')
    await click(dana.page, 'button', 'Join')
    await click(dana.page, 'link', 'Open the console')
    await dana.page.getByLabel('What do you need access to?').fill('payments')
    await dana.page.getByRole('option', { name: /payments-prod/ }).waitFor()
    await dana.page.keyboard.press('Enter')
    await dana.page.getByLabel('Reason').fill('the settlement job hangs')
    await dana.page.getByText(/^Needs 1 of/).waitFor()
    await click(dana.page, 'button', 'Request access')
    await dana.page.getByText('You cannot decide your own request.').waitFor()

    await click(page, 'link', /^Inbox/)
    await click(page, 'button', 'Approve for 1 h')
    await dana.page.getByText(/^(1 h|59 min) left$/).waitFor()
    assert.deepEqual(dana.complaints, [])
    say(t, 'the first access of a colleague')
  })

  test('when the owner signs out, Ben’s window shows nothing more', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await ben.page.getByText(/^It works in a browser in which an owner/).waitFor()
    assert.equal(await ben.page.getByRole('navigation').count(), 0)
    assert.deepEqual(window.complaints, [])
  })

  function say(t: { diagnostic(text: string): void }, what: string): void {
    t.diagnostic(`${what}: ${((Date.now() - began) / 1_000).toFixed(1)} s, ${clicks} clicks`)
  }
})
