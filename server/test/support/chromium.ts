import { existsSync } from 'node:fs'
import { after } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'

const program = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Long: it ends a hang, and the machine may be busy. */
const maxWaitMs = 100_000

/** The reason to skip tests in a browser here; false: they run. */
export const skipChromium = existsSync(program)
  ? false
  : `there is no ${program}: install Debian's chromium, or name another with CHROMIUM`

/** A window of a real browser. */
export type Window = {
  page: Page
  /** What the page did that its own rules forbid, and errors that nothing caught. */
  complaints: string[]
}

export type { Browser, Page }

/** A browser that the caller closes. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    // A browser in a container of a continuous integration runs as root, where Chromium's own sandbox does not start.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--disable-dev-shm-usage'],
  })
}

/** A browser for the tests of a file, which is closed after them. `runsScripts`: false, as where an organization locks its browsers down. */
export async function openChromium({ runsScripts = true } = {}): Promise<() => Promise<Window>> {
  const browser = await launchChromium()
  after(() => browser.close())
  return () => openWindow(browser, runsScripts)
}

/** How a window shows its page. */
type Look = { width: number; height: number; colorScheme: 'light' | 'dark' }

/** A phone, a tablet and a desk, light and dark. */
export const looks: readonly Look[] = [
  { width: 320, height: 568 },
  { width: 768, height: 1_024 },
  { width: 1_440, height: 900 },
].flatMap((size) => (['light', 'dark'] as const).map((colorScheme) => ({ ...size, colorScheme })))

async function openWindow(browser: Browser, javaScriptEnabled: boolean): Promise<Window> {
  const context = await browser.newContext({
    viewport: { width: 1_440, height: 900 },
    timezoneId: 'Europe/Berlin',
    javaScriptEnabled,
  })
  context.setDefaultTimeout(maxWaitMs)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // A refused call is the page's to show, and the console says of each that it was refused.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  return { page, complaints }
}
