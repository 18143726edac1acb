import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addressKeys, emailKey, mailDomainOf, readEmail, readMailDomain, sameAddress } from './email-address.ts'

suite('an e-mail address', () => {
  const one = [
    'a@b.co',
    'anna.o+tag@sub.example.com',
    "o'neil@example.com",
    'owner@sallyport.local',
    'jürgen@müller.example',
    'straße@example.com',
  ]
  for (const text of one) test(`is accepted: ${text}`, () => assert.equal(readEmail(text), text))

  const notOne = {
    empty: '',
    'without a host': 'anna@',
    'without a name': '@example.com',
    'of a bare host': 'anna@localhost',
    'with a display name': 'Anna <anna@example.com>',
    'two, by comma': 'a@example.com,b@example.com',
    'two, by semicolon': 'a@example.com;b@example.com',
    'two, by space': 'a@example.com b@example.com',
    'with a second one after a line break': 'a@example.com\r\nb@example.com',
    'with a line break at its end': 'a@example.com\n',
    'with two at signs': 'a@b@example.com',
    'with a quoted name': '"a b"@example.com',
    'with a comment': 'a(b)@example.com',
    'with an address for a host': 'a@[127.0.0.1]',
    'with a dot first': '.a@example.com',
    'with two dots': 'a..b@example.com',
    'with a hyphen first in its host': 'a@-example.com',
    'with an empty label': 'a@example..com',
    'with an invisible letter': 'a\u200b@example.com',
    'with a direction override': 'a\u202e@example.com',
    'with a joiner that nobody sees': 'ada\u034f@example.com',
    'with a name of a Hangul filler': '\u3164@example.com',
    'with an encoded word': '=?utf-8?q?a=40evil.example=20?=@example.com',
    'with a wide at sign': 'a\uff20example.com',
    'whose letters hide a dot': 'a@example\u2488com',
    'whose host has a letter that DNS drops': 'a@exam\u00adple.com',
    'whose host is half encoded': 'a@xn--bcher-kva.bücher.example',
    'whose host has wide letters': 'a@ｅxample.com',
    'whose host is in composed wide digits': 'a@①.example',
    'with a name too long': `${'a'.repeat(65)}@example.com`,
    'too long': `a@${'b.'.repeat(130)}com`,
  }
  for (const [why, text] of Object.entries(notOne)) {
    test(`is refused ${why}`, () => assert.equal(readEmail(text), undefined))
  }

  const almost = [
    `a@${'a-'.repeat(120)}`,
    `${'a.'.repeat(120)}@`,
    `${'a'.repeat(60)}@${'a.'.repeat(90)}`,
    '='.repeat(254),
  ]
  for (const text of almost) {
    test(`is refused without backtracking if it is almost one: ${text.slice(0, 5)}… (I12)`, () =>
      assert.equal(readEmail(text), undefined))
  }
})

suite('two spellings of an address have one key (R10)', () => {
  const pairs: [string, string][] = [
    ['straẞe@example.com', 'strasse@example.com'],
    ['Anna@Example.COM', 'anna@example.com'],
    ['straße@example.com', 'STRASSE@example.com'],
    ['ırmak@example.com', 'IRMAK@example.com'],
    ['İrmak@example.com', 'irmak@example.com'],
    ['ΟΔΟΣ@example.com', 'οδος@example.com'],
    ['οδοσ@example.com', 'οδος@example.com'],
    ['jose\u0301@example.com', 'josé@example.com'],
    ['ａnna@example.com', 'anna@example.com'],
    ['\u212aim@example.com', 'kim@example.com'],
    ['ﬁnn@example.com', 'finn@example.com'],
  ]
  for (const [one, other] of pairs) test(`${one}, ${other}`, () => assert.equal(emailKey(one), emailKey(other)))

  test('different addresses have different keys', () =>
    assert.notEqual(emailKey('ana@example.com'), emailKey('anna@example.com')))
})

suite('two addresses are the same', () => {
  const pairs: [string, string][] = [
    ['Anna@Example.COM', 'anna@example.com'],
    ['jose\u0301@example.com', 'josé@example.com'],
    ['paul@FUSSBALL.example', 'paul@fussball.example'],
    ['paul@fußball.example', 'paul@xn--fuball-cta.example'],
    ['paul@xn--fuball-cta.example', 'Paul@Fußball.example'],
    ['paul@ｅxample.com', 'paul@example.com'],
  ]
  for (const [one, other] of pairs) {
    test(`${one}, ${other}: and have a key in common (O20)`, () => {
      assert.ok(sameAddress(one, other))
      assert.ok(addressKeys(one).includes(emailKey(other)))
    })
  }

  const others: [string, string][] = [
    ['paul@fußball.example', 'paul@fussball.example'],
    ['cfo@straße.example', 'cfo@strasse.example'],
    ['jım@example.com', 'jim@example.com'],
    ['İrmak@example.com', 'irmak@example.com'],
    ['straße@example.com', 'strasse@example.com'],
    ['ａnna@example.com', 'anna@example.com'],
    ['ΟΔΟΣ@example.com', 'οδος@example.com'],
    ['anna@example.com', 'anna@sub.example.com'],
    // Without a domain in DNS, no address is certain, not even the same text.
    ['anna@127.1', 'anna@127.1'],
    ['anna@example.a_b', 'anna@example.a_b'],
  ]
  for (const [one, other] of others) {
    test(`not ${one}, ${other} (O20)`, () => assert.equal(sameAddress(one, other), false))
  }
})

suite('a mail domain', () => {
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
