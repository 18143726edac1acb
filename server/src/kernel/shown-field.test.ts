import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  flagField,
  hostField,
  idField,
  listField,
  numberField,
  portField,
  type ShownField,
  textField,
  urlField,
} from './shown-field.ts'

const fields: [string, ShownField, { shown: unknown[]; hidden: unknown[] }][] = [
  [
    'text',
    textField,
    {
      shown: ['', 'cn=admin,dc=example,dc=org', '(objectClass=person)', 'ü'.repeat(500)],
      hidden: ['x'.repeat(501), 'a\nb', 'a\u202eb', 'a\u2028b', 7, true, null, {}, ['a'], { toString: 'a' }],
    },
  ],
  ['a number', numberField, { shown: [0, -1, 0.5], hidden: ['1', null, [1]] }],
  ['a flag', flagField, { shown: [true, false], hidden: ['true', 1, null] }],
  ['a port', portField, { shown: [1, 636, 65_535], hidden: [0, 65_536, 1.5, '636', null] }],
  [
    'a host',
    hostField,
    {
      shown: ['ldap.example.org', 'eu-central-1', '[::1]', 'ldap.example.org:636'],
      hidden: ['', 'admin:hunter2@ldap.example.org', 'a b', 'a/b', 'a\n', 1],
    },
  ],
  [
    'an id',
    idField,
    {
      shown: ['0oa1b2c3', 'a-b_c.d', 'C012345', 42],
      hidden: ['', 'a b', 'a\n', 'a:b', 'https://a', 'a@b', 'x'.repeat(201), 1.5, null, {}],
    },
  ],
  [
    'a list of hosts',
    listField(hostField),
    {
      shown: [[], ['example.org', 'example.com']],
      hidden: ['example.org', ['hunter 2'], [['a']], [1], Array(101).fill('a')],
    },
  ],
  [
    'an address',
    urlField,
    {
      shown: ['https://example.org', 'https://example.org:8443/scim/v2', 'ldaps://ldap.example.org'],
      hidden: [
        'https://admin:hunter2@example.org',
        'https://hunter2@example.org',
        'https://example.org/?token=hunter2',
        'https://example.org/#hunter2',
        'https:\\\\admin:hunter2\\example.org',
        'hunter2',
        'javascript:hunter2',
        'data:text/plain,hunter2',
        ' https://example.org\n',
        `https://example.org/${'x'.repeat(500)}`,
        1,
      ],
    },
  ],
]

for (const [name, field, { shown, hidden }] of fields) {
  suite(`a field that is ${name}`, () => {
    for (const value of shown) {
      test(`shows ${JSON.stringify(value).slice(0, 60)}`, () => assert.equal(field.shows(value), true))
    }
    for (const value of hidden) {
      test(`hides ${JSON.stringify(value).slice(0, 60)} (S2)`, () => assert.equal(field.shows(value), false))
    }
  })
}
