import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { dnKey } from './distinguished-name.ts'

const same: [string, string, string][] = [
  [
    'upper and lower case',
    'CN=Ada Lovelace,OU=People,DC=Example,DC=com',
    'cn=ada lovelace,ou=people,dc=example,dc=com',
  ],
  ['spaces around marks', 'cn = Ada , ou=People ;dc= example', 'cn=Ada,ou=People,dc=example'],
  ['several spaces as one', 'cn=Ada   Lovelace', 'cn=Ada Lovelace'],
  ['an escaped comma by its number', 'cn=Lovelace\\2C Ada,dc=example', 'cn=Lovelace\\, Ada,dc=example'],
  ['other characters by their bytes', 'cn=J\\C3\\BCrgen', 'cn=Jürgen'],
  ['composed and decomposed letters', 'cn=Ju\u0308rgen', 'cn=J\u00fcrgen'],
  ['escaped spaces at the ends', 'cn=\\ Ada\\ ', 'cn=Ada'],
  ['the parts of a name in any order', 'uid=ada+cn=Ada,dc=example', 'cn=Ada+uid=ada,dc=example'],
  [
    'long names and numbers of attributes',
    'commonName=Ada,2.5.4.11=People,OID.0.9.2342.19200300.100.1.25=x',
    'cn=Ada,ou=People,dc=x',
  ],
]

const different: [string, string, string][] = [
  ['an escaped comma and a comma', 'cn=Lovelace\\, o\\=x', 'cn=Lovelace,o=x'],
  ['an escaped plus and a plus', 'cn=Ada\\+uid\\=ada', 'cn=Ada+uid=ada'],
  ['letters with and without accents', 'cn=Jürgen', 'cn=Jurgen'],
  ['the order of the names', 'ou=a,ou=b', 'ou=b,ou=a'],
  ['an escaped backslash', 'cn=a\\\\\\, b', 'cn=a\\, b'],
]

const none = [
  '',
  ' ',
  'Ada',
  'cn',
  'cn=Ada,',
  ',cn=Ada',
  'cn=Ada,,dc=x',
  'cn=A\\x',
  'cn=A\\',
  'cn="Ada"',
  '=Ada',
  'cn=Ada+',
  `cn=${'x'.repeat(9_000)}`,
]

suite('the key of a DN', () => {
  for (const [what, one, other] of same) {
    test(`is the same for ${what}`, () => {
      assert.notEqual(dnKey(one), undefined)
      assert.equal(dnKey(one), dnKey(other))
    })
  }
  for (const [what, one, other] of different) {
    test(`tells apart ${what}`, () => {
      assert.notEqual(dnKey(one), undefined)
      assert.notEqual(dnKey(one), dnKey(other))
    })
  }
  for (const text of none) {
    test(`is not there for \`${text.slice(0, 20)}\``, () => assert.equal(dnKey(text), undefined))
  }
})
