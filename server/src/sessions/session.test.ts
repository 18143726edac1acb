import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyCharacter, fc } from '../../test/support/chance.ts'
import { isPlainLine } from '../kernel/one-line-name.ts'
import { providerNameHash, shownUserAgent } from './session.ts'

const shown: [name: string, header: string | undefined, text: string | null][] = [
  ['an absent one is null', undefined, null],
  ['an empty one is null', '', null],
  ['one of spaces is null', ' \t ', null],
  ['one of nothing but marks of the direction is null', '\u202e\u2066\u200f', null],
  ['an ordinary one stays as it is', 'Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla/5.0 (X11; Linux x86_64)'],
  ['line ends become spaces', 'a\r\nforged: line', 'a forged: line'],
  ['other controls become spaces', 'a\0b\x1bc\x85d\u2028e', 'a b c d e'],
  ['marks of the direction are left out', 'abc\u202egnp.exe', 'abcgnp.exe'],
  ['half a character is replaced', 'a\ud800b', 'a\ufffdb'],
  ['200 characters stay', 'x'.repeat(200), 'x'.repeat(200)],
  ['more than 200 characters are cut', 'x'.repeat(10_000), 'x'.repeat(200)],
  ['characters outside the first plane count once', '🦊'.repeat(300), '🦊'.repeat(200)],
  ['no space is left at the cut', `${'x'.repeat(199)} y`, 'x'.repeat(199)],
]
for (const [name, header, text] of shown) {
  test(`of the user agents, ${name}`, () => assert.equal(shownUserAgent(header), text))
}

test('every user agent is one line of at most 200 characters', () => {
  const anyText = fc.string({ unit: anyCharacter, maxLength: 400 })
  const halves = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 400 })
  fc.assert(
    fc.property(fc.oneof(anyText, halves), (header) => {
      const text = shownUserAgent(header)
      if (text === null) return
      assert.ok(isPlainLine(text) && text.isWellFormed() && text === text.trim())
      assert.ok([...text].length <= 200 && text !== '')
    }),
  )
})

test('a name of a provider is kept as 32 bytes that differ for every issuer and spelling', () => {
  const issuer = 'https://id.example.com'
  const hashes = ['anna', 'Anna', 'anna ', ''].map((name) => providerNameHash(issuer, name).toString('hex'))
  hashes.push(providerNameHash(`${issuer}/`, 'anna').toString('hex'))
  assert.equal(new Set(hashes).size, 5)
  assert.ok(hashes.every((hash) => hash.length === 64))
})
