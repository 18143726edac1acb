import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { html } from '../../kernel/html.ts'
import { writeMail } from './mail-layout.ts'

const frame = { subject_prefix: undefined, link: undefined, why: 'because' }
const content = { subject: 'Hello', headline: 'Hello.', facts: [] }

suite('a mail', () => {
  test('has its prefix before its subject, and cuts a long one at a word', () => {
    assert.equal(writeMail(content, { ...frame, subject_prefix: '[prod]' }).subject, '[prod] Hello')
    const { subject } = writeMail({ ...content, subject: 'many words '.repeat(100) }, frame)
    assert.match(subject, /^(many words )+many…$/)
    assert.ok(subject.length <= 150)
    assert.equal(writeMail({ ...content, subject: 'x'.repeat(999) }, frame).subject, `${'x'.repeat(149)}…`)
  })

  test('escapes whatever stands in it', () => {
    const { html: page, text } = writeMail({ ...content, facts: [['Reason', '<b>&"\'']] }, frame)
    assert.ok(page.includes('<bdi>&lt;b&gt;&amp;&quot;&#39;</bdi>'))
    assert.ok(text.includes('Reason: <b>&"\''))
  })

  test('never links to a script', () => {
    assert.throws(() => writeMail(content, { ...frame, link: 'javascript:alert(1)' }), /only an address/)
    assert.equal(html`<a href="${'https://a.example/?a=1&b'}">`.text, '<a href="https://a.example/?a=1&amp;b">')
  })
})
