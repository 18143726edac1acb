import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium, type Window } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'

/** The main job with the keyboard alone: no pointer is used, and the place of the focus is always shown. */
suite('the console by keyboard', { skip: skipChromium }, async () => {
  const { sallyport, openWindow, people } = await openConsoleStage()

  /** The name of what has the focus; empty where nothing has it: the text of the body is that of the whole page. */
  const focused = (page: Window['page']) =>
    page.evaluate(
      `(() => { const { activeElement, body } = document; const { textContent, labels, ariaLabel } = activeElement; return activeElement === body ? '' : (ariaLabel ?? labels?.[0]?.textContent ?? textContent) })()`,
    ) as Promise<string>

  /** Presses Tab until the focus is on what has this name. */
  async function tabTo(page: Window['page'], name: RegExp): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      if (name.test(await focused(page))) {
        const outline = await page.evaluate(
          `(() => { const { activeElement } = document; const shown = activeElement.closest('label') ?? activeElement; return [shown, shown.parentElement].map((one) => getComputedStyle(one).outlineStyle).find((style) => style !== 'none') ?? 'none' })()`,
        )
        assert.notEqual(outline, 'none', `the focus on ${name} is not shown`)
        return
      }
      await page.keyboard.press('Tab')
    }
    throw new Error(`no ${name} within 60 steps; the focus is on ${await focused(page)}`)
  }

  async function signInByKeyboard(who: keyof typeof people, path: string) {
    const { page } = await openWindow()
    const { email, password } = people[who]
    await page.goto(`${sallyport.base_url}/console/${path}`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await tabTo(page, /^E-mail address$/)
    await page.keyboard.type(email)
    await tabTo(page, /^Passphrase$/)
    await page.keyboard.type(password)
    await tabTo(page, /^Organization$/)
    await page.keyboard.type(sallyport.bootstrap.tenant_id)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Main' }).first().waitFor()
    return page
  }

  test('Dana asks, and Ben moves, reads and approves', async () => {
    const dana = await signInByKeyboard('dana', '')
    // The page comes after what surrounds it.
    await dana.getByLabel('What do you need access to?').waitFor()
    await tabTo(dana, /What do you need access to/)
    await dana.keyboard.type('payments-prod read')
    await dana.keyboard.press('Enter')
    await dana.getByRole('heading', { name: /Request access to/ }).waitFor()
    await tabTo(dana, /^1 h$/)
    await dana.keyboard.press('ArrowLeft')
    await tabTo(dana, /^Reason$/)
    await dana.keyboard.type('look at the logs')
    await tabTo(dana, /^Request access$/)
    await dana.keyboard.press('Enter')
    await dana.getByText('You cannot decide your own request.').waitFor()

    const ben = await signInByKeyboard('ben', 'inbox')
    await ben.getByRole('button', { name: 'Approve for 30 min' }).waitFor()
    await ben.keyboard.press('d')
    assert.equal(await focused(ben), 'Deny')
    await ben.keyboard.press('a')
    assert.equal(await focused(ben), 'Approve for 30 min')
    // Neither key decides.
    await ben.getByRole('button', { name: 'Approve for 30 min' }).waitFor()
    await ben.keyboard.press('Enter')
    await ben.getByText(/Ben Marsh approved this at/).waitFor()
  })
})
