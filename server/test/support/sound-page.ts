import assert from 'node:assert/strict'
import axe from 'axe-core'
import { looks, type Window } from './chromium.ts'

/**
 * Axe stays in the page for its next look: to load it takes longer than to run it. Only what it finds wrong is described, since
 * describing all that is right takes most of its time.
 */
async function requireNoViolations(page: Window['page'], state: string): Promise<void> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axe.source)
  const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, help }) => id + ': ' + help))`)
  assert.deepEqual(found, [], state)
}

/**
 * Draws the page at each size and in each scheme, and requires that it fits and that axe finds nothing. `picture`: where a picture of
 * each is stored; undefined: none is.
 */
export async function requireSound({ page, complaints }: Window, state: string, picture?: string): Promise<void> {
  for (const look of looks) {
    await page.setViewportSize(look)
    await page.emulateMedia({ colorScheme: look.colorScheme })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(wide) <= look.width, `${state}: ${wide} px wide at ${look.width}`)
    await requireNoViolations(page, `${state}, ${look.width} px, ${look.colorScheme}`)
    if (picture === undefined) continue
    await page.screenshot({ path: `${picture}-${look.width}-${look.colorScheme}.png`, fullPage: true })
  }
  assert.deepEqual(complaints, [], state)
}
