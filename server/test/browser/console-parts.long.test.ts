import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openChromium, skipChromium } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { requireSound } from '../support/sound-page.ts'
import { until } from '../support/wait.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** PICTURES: a folder for a picture of each state. */
const pictures = process.env.PICTURES

/** `npm run console:parts` as a person who works on the console meets it: each part in each of its states, at three widths, light and dark. */
suite('the parts of the console', { skip: skipChromium }, async () => {
  const port = await freePort()
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'console', '--host', '127.0.0.1', '--port', String(port), '--strictPort']
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'ignore' })
  const ended = once(child, 'exit')
  after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const address = `http://127.0.0.1:${port}/console/parts.html`
  await until('the page is served', () =>
    fetch(address).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const window = await (await openChromium())()
  const { page } = window
  const sound = (state: string) =>
    requireSound(window, state, pictures === undefined ? undefined : join(pictures, state))
  await page.goto(address)
  await page.getByRole('heading', { name: 'Parts of the console' }).waitFor()

  test('fit, and are read out right', async () => {
    await page.getByLabel('Loading').locator('div').first().waitFor()
    await sound('parts')
  })

  test('above the page: a dialog, and a question whose act is refused', async () => {
    await page.getByRole('button', { name: 'Show a dialog' }).click()
    await sound('parts-dialog')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Show a question' }).click()
    await page.getByRole('button', { name: 'End access' }).click()
    await page.getByRole('alertdialog').getByText('Ben approved this 3 s ago').waitFor()
    await sound('parts-question')
  })
})
