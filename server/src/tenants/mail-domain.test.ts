import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { mailDomainOf, readMailDomain } from './mail-domain.ts'

suite('a domain that is allowed to send', () => {
  const cases: [string, string | undefined][] = [
    ['example.com', 'example.com'],
    ['EXAMPLE.Com', 'example.com'],
    ['mail.example.com', 'mail.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    // Looks like example.com, but one letter is Cyrillic.
    ['ex\u0430mple.com', 'xn--exmple-4nf.com'],
    // Full width, which DNS folds.
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['com', undefined],
    ['', undefined],
    ['.example.com', undefined],
    ['example.com.', undefined],
    ['example..com', undefined],
    ['*.example.com', undefined],
    ['a@example.com', undefined],
    ['example.com/x', undefined],
    ['ex%61mple.com', undefined],
    ['example.com\u0000', undefined],
    ['exam ple.com', undefined],
    ['exam\u00adple.com', undefined],
    ['-example.com', undefined],
    ['127.0.0.1', undefined],
    ['127.1', undefined],
    ['0x7f.1', undefined],
    [`${'a'.repeat(64)}.com`, undefined],
    [`${'a.'.repeat(126)}com`, undefined],
  ]
  for (const [text, domain] of cases) {
    test(`is ${domain ?? 'none'} for ${JSON.stringify(text)} (J8)`, () => assert.equal(readMailDomain(text), domain))
  }
})

test('the domain of an address is the text after its last at sign (J8)', () => {
  assert.equal(mailDomainOf('Ada@BÜCHER.example'), 'xn--bcher-kva.example')
  assert.equal(mailDomainOf('a@example.com@evil.example'), 'evil.example')
  assert.equal(mailDomainOf('nobody'), undefined)
})
