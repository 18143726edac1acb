import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { check } from 'recheck'
import { patternsOf, repeatsAtMostOnce } from './support/patterns.ts'
import { longVariable } from './support/race.ts'
import { readSources } from './support/source-files.ts'

/**
 * No text can make one of our regular expressions backtrack without bound: a checker tests each of them for that. This
 * includes schemas' patterns: the schema library matches them even against a text that is too long, to report all faults.
 */
const sources = readSources(process.cwd(), ['server/src']).filter(({ path }) => !path.endsWith('.test.ts'))

/** Files whose texts no outsider can choose, each with the reason. */
const ownTexts: Readonly<Record<string, string>> = {
  'server/src/http/openapi': 'reads our own document and headers',
  'server/src/embedded-postgres/': 'reads what our own PostgreSQL says',
  'server/src/config/': "reads its operator's settings",
  'server/src/commands/demo.ts': "reads its operator's settings",
}

suite('no text makes a regular expression slow (I12)', () => {
  const patterns = sources
    .filter(({ path }) => !Object.keys(ownTexts).some((place) => path.startsWith(place)))
    .flatMap(patternsOf)
  const isLong = process.env[longVariable] !== undefined
  const once = [...new Map(patterns.map((one) => [`/${one.source}/${one.flags}`, one])).values()]
  // The checker takes a tenth of a second for each: a usual run leaves out those that cannot backtrack by their form.
  for (const { where, source, flags } of once.filter(({ source }) => isLong || !repeatsAtMostOnce(source))) {
    test(`/${source}/${flags} in ${where}`, async () => {
      const found = await check(source, flags, { timeout: 60_000 })
      assert.equal(found.status, 'safe', JSON.stringify(found.status === 'vulnerable' ? found.attack.pattern : found))
    })
  }

  test('the source’s expressions are found', () => assert.ok(patterns.length > 60, `${patterns.length} patterns`))

  test('an expression is left out only if by its form it cannot backtrack', () => {
    const left = ['abc', '^a+$', String.raw`^[\x20-\x7e]{1,500}$`, String.raw`^\(\+\d*`, '(?:a|b)']
    const checked = ['a+', '^a+b+$', '^(?:a|a)*$', '^a|b*$', '^(a)+$', '^[a]*[a]*$', String.raw`\s*x`, '^a?a+$']
    assert.deepEqual([...left, ...checked].filter(repeatsAtMostOnce), left)
  })

  test('the check finds an expression that is slow', async () =>
    assert.equal((await check(String.raw`^\P{Cc}*[^\p{Cc}\s]\P{Cc}*$`, 'u')).status, 'vulnerable'))
})
