import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sanitizeText } from '../../kernel/foreign-text.ts'
import { readConnect } from './answered-connect.ts'

const read = (said: unknown) => readConnect(said, (text) => sanitizeText(text, ['whsec_hidden']))
const fields = (count: number, field: object = { name: 'Door', value: '7' }) =>
  Array.from({ length: count }, () => field)

suite('how to connect, as a receiver answers it', () => {
  test('is its link, its instructions and its fields', () => {
    const said = { url: 'https://doors.example.com/7?a=b#c', instructions: 'Show your badge.', fields: fields(1) }
    assert.deepEqual(read(said), {
      kind: 'webhook',
      summary: 'Show your badge.',
      links: [{ label: 'Open', url: 'https://doors.example.com/7?a=b#c' }],
      fields: [{ label: 'Door', value: '7' }],
      commands: [],
      files: [],
    })
    assert.equal(read({ url: 'https://doors.example.com/7' })?.summary, 'Open the link of the target.')
  })

  test('is unknown when it answers nothing', () => {
    assert.deepEqual([read(undefined), read(null)], [undefined, undefined])
  })

  test('has the secrets of the provisioner redacted', () => {
    const shown = read({ instructions: 'use whsec_hidden', fields: [{ name: 'Key', value: 'whsec_hidden' }] })
    assert.ok(shown !== undefined && !JSON.stringify(shown).includes('whsec_hidden'))
  })

  const faulty: [string, unknown, RegExp][] = [
    ['a text', 'https://doors.example.com', /must be an object/],
    ['a list', [], /must be an object/],
    ['nothing in it', {}, /is empty/],
    ['an unknown field', { url: 'https://a.example', html: '<b>' }, /only/],
    ['a link without TLS', { url: 'http://a.example' }, /https/],
    ['a script', { url: 'javascript:alert(1)' }, /https/],
    ['a link with a password', { url: 'https://a:b@a.example' }, /without a user/],
    ['a link with a secret of ours', { url: 'https://a.example/?k=whsec_hidden' }, /secret of the provisioner/],
    ['a link that is no text', { url: 7 }, /https/],
    ['instructions of two lines', { instructions: 'a\nb' }, /one line/],
    ['instructions that change the direction', { instructions: 'a\u202eb' }, /one line/],
    ['instructions that are too long', { instructions: 'x'.repeat(501) }, /500/],
    ['too many fields', { fields: fields(16) }, /15/],
    ['a field with a control character', { fields: fields(1, { name: 'a', value: 'b\u0007' }) }, /plain text/],
    ['a field without a value', { fields: fields(1, { name: 'a' }) }, /value/],
    ['a field with more', { fields: fields(1, { name: 'a', value: 'b', c: 'd' }) }, /only/],
    ['fields that are no list', { fields: { length: 1 } }, /fields/],
    ['a huge object', { a: 'x'.repeat(9_000) }, /8000 characters/],
  ]
  for (const [name, said, says] of faulty) {
    test(`says why it is not shown if it is ${name}`, () => {
      const connect = read(said)
      assert.match(connect?.summary ?? '', /^The target answered how to connect, but not in the form/)
      assert.match(connect?.summary ?? '', says)
      assert.deepEqual([connect?.links, connect?.fields], [[], []])
    })
  }
})
