import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

const here = import.meta.dirname
const tokens = new Map(
  [...readFileSync(join(here, 'tokens.css'), 'utf8').matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
)

/** The relative luminance of a color, as WCAG defines it. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

const surfaces = ['bg', 'surface', 'sunken']
const tones = ['ok', 'wait', 'info', 'bad', 'emergency']

/** Each pair that is used: what is written or drawn, on what, and the least contrast. */
const pairs: [front: string, back: string, least: number][] = [
  ...['text', 'text-2', 'text-3'].flatMap((text) =>
    surfaces.map((back): [string, string, number] => [text, back, 4.5]),
  ),
  ...['accent', 'accent-hover', 'bad', 'ok', 'wait'].flatMap((text) =>
    ['bg', 'surface'].map((back): [string, string, number] => [text, back, 4.5]),
  ),
  ...tones.map((tone): [string, string, number] => [tone, `${tone}-tint`, 4.5]),
  ['text', 'accent-tint', 4.5],
  ['accent', 'accent-tint', 4.5],
  ['text', 'wait-tint', 4.5],
  ['text', 'bad-tint', 4.5],
  ['text-2', 'accent-tint', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-hover', 4.5],
  ['on-bad', 'bad', 4.5],
  ...['bg', 'surface'].flatMap((back): [string, string, number][] => [
    ['control', back, 3],
    ['accent', back, 3],
  ]),
]

suite('the colors', () => {
  for (const [front, back, least] of pairs)
    test(`${front} on ${back} has a contrast of ${least} or more`, () => {
      const [one, other] = [tokens.get(front), tokens.get(back)]
      assert.ok(one && other, 'the token is there')
      for (const scheme of ['light', 'dark'] as const) {
        const found = contrast(one[scheme], other[scheme])
        assert.ok(found >= least, `${scheme}: ${found.toFixed(2)}`)
      }
    })

  test('are in one file', async () => {
    const found: string[] = []
    for await (const file of glob('**/*.{ts,tsx,css}', { cwd: here, exclude: ['**/*.test.ts'] })) {
      if (file === 'tokens.css') continue
      if (/#[0-9a-f]{3,8}\b(?!\w)/i.test(readFileSync(join(here, file), 'utf8').replaceAll(/#(?:console|main)\b/g, '')))
        found.push(file)
    }
    assert.deepEqual(found, [])
  })
})

test('every word of a page is in the catalog', async () => {
  const found: string[] = []
  // The page for those who work on the console is in English.
  for await (const file of glob('**/*.tsx', { cwd: here, exclude: ['parts-page/**'] })) {
    const text = readFileSync(join(here, file), 'utf8')
    // Words between tags, and in the attributes that people read.
    const between = /(?<=<\/?[\w.]+(?: [^<>\n]*)?>)[^<>{}=;()]*[A-Za-z]{2}[^<>{}=;()]*(?=<)/g
    const inAttributes = /\b(?:aria-label|label|title|placeholder|alt|hint)="[^"]*"/g
    const said = [between, inAttributes].flatMap((words) => [...text.matchAll(words)].map(([one]) => one.trim()))
    // What follows the type of an expression is code.
    found.push(...said.filter((one) => !/\breturn\b|&&/.test(one)).map((one) => `${file}: ${one}`))
  }
  assert.deepEqual(found, [])
})
