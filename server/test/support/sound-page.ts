import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { looks, type Window } from './chromium.ts'

/** Its page is made of the parts of the other two, so axe, which takes seconds, is spared there. */
const tablet = 768

async function requireNoViolations(page: Window['page'], state: string): Promise<void> {
  // The pages have no frames, for which each analysis would open a page of its own.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  assert.deepEqual(
    violations.map(({ id, help }) => `${id}: ${help}`),
    [],
    state,
  )
}

/**
 * Draws the page at each size and in each scheme, and requires that it fits, and on a phone and a desk that axe finds nothing. `picture`: where a picture of
 * each is stored; undefined: none is.
 */
export async function requireSound({ page, complaints }: Window, state: string, picture?: string): Promise<void> {
  for (const look of looks) {
    await page.setViewportSize(look)
    await page.emulateMedia({ colorScheme: look.colorScheme })
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    assert.ok(Number(wide) <= look.width, `${state}: ${wide} px wide at ${look.width}`)
    if (look.width !== tablet) await requireNoViolations(page, `${state}, ${look.width} px, ${look.colorScheme}`)
    if (picture === undefined) continue
    await page.screenshot({ path: `${picture}-${look.width}-${look.colorScheme}.png`, fullPage: true })
  }
  assert.deepEqual(complaints, [], state)
}
