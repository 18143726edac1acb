import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { apiSentence, foreignText, nameOf, quote, writtenText } from './shown-text.ts'

suite('what a person wrote', () => {
  const cases: [string, string, string][] = [
    ['keeps its lines', 'a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['loses marks of the direction', '\u202eexe.\u202c\u2066x\u2069\u200f\u061c', 'exe.x'],
    ['loses control characters, and keeps tabs', '\u0000a\u0007\tb\u009f', 'a\tb'],
    ['keeps other scripts', 'שלום עולם 😀', 'שלום עולם 😀'],
  ]
  for (const [name, text, shown] of cases) test(name, () => assert.equal(writtenText(text), shown))

  test('is quoted as text', () => {
    const { text } = quote('Reason', '</blockquote><a href="https://evil.example.com">x</a>')
    assert.ok(text.includes('&lt;/blockquote&gt;&lt;a href=&quot;https://evil.example.com&quot;&gt;x'))
  })
})

test('a name is on one line, isolated, and not longer than a line', () => {
  assert.equal(nameOf('Dana\n\u202e<Lee>').text, '<bdi>Dana &lt;Lee&gt;</bdi>')
  assert.equal(nameOf('a'.repeat(300)).text, `<bdi>${'a'.repeat(200)}…</bdi>`)
})

test('the words of a target are marked as English, and isolated', () => {
  assert.equal(foreignText('no <role>\u202e').text, '<bdi lang="en">no &lt;role&gt;</bdi>')
})

test('a sentence of the API begins with a capital and ends with a full stop', () => {
  assert.equal(apiSentence('ask `another` approver').text, '<span lang="en">Ask `another` approver.</span>')
  assert.equal(apiSentence('Is it?').text, '<span lang="en">Is it?</span>')
})
