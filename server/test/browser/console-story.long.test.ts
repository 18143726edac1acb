import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'

const phone = { width: 320, height: 568 }

/** The main job of the console: one person asks, another approves, a third sees that it is done, and the access ends. */
suite('asking and approving, in three browsers', { skip: skipChromium }, async () => {
  const { signIn } = await openConsoleStage()

  test('Dana asks, Ben approves, Ada learns of it, and every window follows by itself', async () => {
    const dana = await signIn('dana')
    await dana.page.getByText('That is the normal state').waitFor()

    await dana.page.getByLabel('What do you need access to?').fill('payments-prod admin')
    await dana.page.keyboard.press('Enter')
    await dana.page.getByRole('heading', { name: 'Request access to payments-prod' }).waitFor()
    await dana.page.getByText('Needs 1 of').waitFor()
    await dana.page.getByRole('button', { name: 'Request access' }).click()
    await dana.page.getByText('Say why you need it.').waitFor()
    await dana.page.getByLabel('Reason').fill('The settlement job hangs, see INC-4711.')
    await dana.page.getByRole('button', { name: 'Request access' }).click()
    await dana.page.getByText('You cannot decide your own request.').waitFor()
    await dana.page.getByText(/can approve\./).waitFor()

    const ada = await signIn('ada', 'inbox')
    const ben = await signIn('ben', 'inbox')
    for (const { page } of [ada, ben]) {
      await page.getByRole('button', { name: 'Approve for 1 h' }).waitFor()
      assert.match((await page.getByRole('link', { name: /Inbox/ }).first().textContent()) ?? '', /1/)
    }
    await ben.page.getByLabel('Note').fill('Go ahead; I watch the dashboard.')
    // It stays in the list for some seconds.
    const seenByAda = ada.page.getByText('Approved by Ben Marsh').waitFor()
    await ben.page.getByRole('button', { name: 'Approve for 1 h' }).click()
    await ben.page.getByText(/Ben Marsh approved this at/).waitFor()
    const decided = ben.page.locator('details', { hasText: 'Decided today (1)' })
    await decided.locator('summary').click()
    await decided.getByRole('link', { name: /Dana Lee.*Approved.*AdministratorAccess on payments-prod/ }).waitFor()

    await seenByAda
    assert.equal(await ada.page.getByText('Decided today').count(), 0)
    await ada.page.getByText(/Ben Marsh approved this at .*Nothing left to do\./).waitFor()
    await dana.page.getByText(/^(1 h|59 min) left$/).waitFor()
    await dana.page.getByText('Go ahead; I watch the dashboard.').first().waitFor()
  })

  test('Dana sees what she has, ends it, and reads that it ended', async () => {
    const { page } = await signIn('dana')
    await page.getByRole('heading', { name: 'payments-prod' }).waitFor()
    await page.getByRole('button', { name: /^End access/ }).click()
    const dialog = page.getByRole('alertdialog')
    assert.equal(await page.locator(':focus').textContent(), 'Cancel')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^End access/ }).click()
    await dialog.getByRole('button', { name: 'End access' }).click()
    await page.getByText('Ended today (1)').click()
    await page.getByText('Ended early').waitFor()
    await page.getByText('That is the normal state').waitFor()
  })

  test('a request that a rule approves is active a moment later', async () => {
    const { page } = await signIn('dana', '?type=cloud_account&id=123456789011&action=ReadOnlyAccess')
    await page.getByText('At once.').waitFor()
    await page.getByLabel('Reason').fill('compare with production')
    await page.getByRole('button', { name: 'Request access' }).click()
    await page.getByText(/^(1 h|59 min) left$/).waitFor()
    await page
      .getByText(/Approved by a rule/)
      .first()
      .waitFor()
  })

  test('at 3 a.m., on a phone: an emergency is active after five touches, and everybody is told', async (t) => {
    const { page } = await signIn('dana', '', phone)
    const began = performance.now()
    let touches = 0
    const touch = async (located: { click(): Promise<void> }) => {
      touches += 1
      await located.click()
    }
    await touch(page.getByLabel('What do you need access to?'))
    await page.keyboard.type('prod payments')
    await touch(page.getByRole('option', { name: /payments-prod.*AdministratorAccess/ }))
    // Until the answer stands there, what is below it may still move.
    await page.getByText('Needs 1 of').waitFor()
    await touch(page.getByRole('button', { name: 'Emergency access' }))
    await touch(page.getByLabel('What is the emergency?'))
    await page.keyboard.type('the shop is down')
    await page.getByText('At once.').waitFor()
    await touch(page.getByRole('button', { name: 'Start emergency access' }))
    await page.getByText(/^(1 h|59 min) left$/).waitFor()
    t.diagnostic(`active after ${touches} touches, ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    assert.ok(touches <= 6)
    // Of the request, and of the access.
    await page.getByText('Emergency', { exact: true }).nth(1).waitFor()
  })

  test('on a phone, deciding takes two touches after the sign-in', async () => {
    const dana = await signIn('dana', '?type=cloud_account&id=123456789015&action=ReadOnlyAccess')
    await dana.page.getByLabel('Reason').fill('read the audit trail')
    await dana.page.getByRole('button', { name: 'Request access' }).click()
    await dana.page.getByText('You cannot decide your own request.').waitFor()

    const ben = await signIn('ben', 'inbox', phone)
    await ben.page.getByRole('link', { name: /ReadOnlyAccess on identity-prod/ }).click()
    const approve = ben.page.getByRole('button', { name: 'Approve for 1 h' })
    await approve.waitFor()
    // The sentence, the reason and both buttons are on the first screen.
    for (const text of ['Reason, as written by Dana Lee', 'read the audit trail'])
      assert.ok(await isOnPhone(ben.page.getByText(text)), text)
    assert.ok(await isOnPhone(approve))
    assert.ok(await isOnPhone(ben.page.getByRole('button', { name: 'Deny' })))
    await approve.click()
    await ben.page.getByText(/Ben Marsh approved this at/).waitFor()
    await ben.page.getByRole('link', { name: 'Back to the inbox' }).click()
    await ben.page.getByText('Decided today (2)').click()
    await ben.page.getByRole('link', { name: /Dana Lee.*Approved.*ReadOnlyAccess on identity-prod/ }).waitFor()
  })
})

type Located = { boundingBox(): Promise<{ y: number; height: number } | null> }

/** Whether it is wholly on the first screen of a phone. */
async function isOnPhone(located: Located): Promise<boolean> {
  const box = await located.boundingBox()
  return box !== null && box.y >= 0 && box.y + box.height <= phone.height
}
