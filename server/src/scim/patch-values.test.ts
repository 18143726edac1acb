import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { adaBefore, differences, homeOfAda as home, workOfAda as work } from '../../test/support/scim-ada.ts'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { enterpriseSchema, groupKind, userKind } from './attribute.ts'
import { patched, readPatch } from './patch.ts'

suite('a patch of a list', () => {
  const other = { value: 'ada@other.example', type: 'other' }
  const cases: [string, unknown[], unknown][] = [
    ['adds a value at the end', [{ op: 'add', path: 'emails', value: [other] }], { emails: [work, home, other] }],
    ['adds one value that is no list', [{ op: 'add', path: 'emails', value: other }], { emails: [work, home, other] }],
    [
      'adds a bare text',
      [{ op: 'add', path: 'emails', value: 'x@y.example' }],
      { emails: [work, home, { value: 'x@y.example' }] },
    ],
    ['adds none twice', [{ op: 'add', path: 'emails', value: [home] }], {}],
    [
      'learns more of a value that is there',
      [{ op: 'add', path: 'emails', value: [{ ...home, display: 'At home' }] }],
      { emails: [work, { ...home, display: 'At home' }] },
    ],
    ['replaces all', [{ op: 'replace', path: 'emails', value: [other] }], { emails: [other] }],
    ['removes all', [{ op: 'remove', path: 'emails' }], { emails: null }],
    [
      'removes those that a list names',
      [{ op: 'remove', path: 'emails', value: [{ value: home.value }] }],
      { emails: [work] },
    ],
    [
      'removes one that is no list',
      [{ op: 'remove', path: 'emails', value: { value: 'ADA@home.example' } }],
      { emails: [work] },
    ],
    [
      'removes none that differs in something named',
      [{ op: 'remove', path: 'emails', value: [{ ...home, type: 'work' }] }],
      {},
    ],
    [
      'removes none that lacks what is named',
      [{ op: 'remove', path: 'emails', value: [{ ...home, display: 'x' }] }],
      {},
    ],
    ['removes those that a filter chooses', [{ op: 'remove', path: 'emails[type eq "home"]' }], { emails: [work] }],
    ['removes none where a filter chooses none', [{ op: 'remove', path: 'emails[type eq "other"]' }], {}],
    ['removes all that a filter chooses', [{ op: 'remove', path: 'emails[value pr]' }], { emails: null }],
    [
      'removes a part of those',
      [{ op: 'remove', path: 'emails[type eq "home"].type' }],
      { emails: [work, { value: home.value }] },
    ],
    [
      'removes a part of each',
      [{ op: 'remove', path: 'emails.type' }],
      { emails: [{ value: work.value, primary: true }, { value: home.value }] },
    ],
    [
      'sets a part of each',
      [{ op: 'replace', path: 'emails.display', value: 'x' }],
      {
        emails: [
          { ...work, display: 'x' },
          { ...home, display: 'x' },
        ],
      },
    ],
    [
      'makes a value of a part, where there is none',
      [{ op: 'add', path: 'phoneNumbers.value', value: '1' }],
      { phoneNumbers: [{ value: '1' }] },
    ],
    [
      'replaces what a filter chooses as a whole',
      [{ op: 'replace', path: 'emails[type eq "home"]', value: { value: 'new@home.example', type: 'other' } }],
      { emails: [work, { value: 'new@home.example', type: 'other' }] },
    ],
    [
      'adds to what a filter chooses',
      [{ op: 'add', path: 'emails[type eq "home"]', value: { display: 'x' } }],
      { emails: [work, { ...home, display: 'x' }] },
    ],
    [
      'takes a filter of any form',
      [{ op: 'replace', path: 'emails[not (type eq "work") and value co "@home]."].display', value: 'x' }],
      '400 noTarget',
    ],
    [
      'makes a value of all that a filter says of its kind',
      [{ op: 'add', path: 'phoneNumbers[type eq "work" and primary eq true].value', value: '1' }],
      { phoneNumbers: [{ type: 'work', primary: true, value: '1' }] },
    ],
    [
      'makes none of a filter on the value itself',
      [{ op: 'add', path: 'emails[value eq "x"].type', value: 'home' }],
      '400 noTarget',
    ],
    [
      'makes none of a filter that says no kind',
      [{ op: 'add', path: 'emails[type ne "work" and type ne "home"].value', value: 'x' }],
      '400 noTarget',
    ],
    ['makes no kind without a value', [{ op: 'add', path: 'phoneNumbers[type eq "work"].display', value: 'x' }], {}],
    [
      'sets the parts of a new value in any order',
      [
        { op: 'Add', path: 'phoneNumbers[type eq "work"].primary', value: 'True' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1' },
      ],
      { phoneNumbers: [{ type: 'work', primary: true, value: '1' }] },
    ],
    // At most one is the primary one: the one that was said last to be.
    [
      'makes another value primary, wherever it stands',
      [{ op: 'replace', path: 'emails[type eq "home"].primary', value: true }],
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      'makes the first value primary again',
      [
        { op: 'replace', path: 'emails[type eq "home"].primary', value: true },
        { op: 'replace', path: 'emails[type eq "work"].primary', value: 'true' },
      ],
      { emails: [work, { ...home, primary: false }] },
    ],
    [
      'adds a primary value',
      [{ op: 'add', path: 'emails', value: [{ ...other, primary: true }] }],
      { emails: [{ ...work, primary: false }, home, { ...other, primary: true }] },
    ],
    [
      'adds what is there as the primary one',
      [{ op: 'add', path: 'emails', value: [{ ...home, primary: true }] }],
      {
        emails: [
          { ...work, primary: false },
          { ...home, primary: true },
        ],
      },
    ],
    [
      'changes the primary one',
      [{ op: 'replace', path: 'emails[primary eq true].value', value: 'x@example.com' }],
      { emails: [{ ...work, value: 'x@example.com' }, home] },
    ],
    [
      'applies operations one after another',
      [
        { op: 'remove', path: 'emails' },
        { op: 'add', path: 'emails[type eq "work"].value', value: 'x@example.com' },
        { op: 'add', value: { title: 'a' } },
        { op: 'remove', path: 'title' },
      ],
      { emails: [{ type: 'work', value: 'x@example.com' }], title: null },
    ],
  ]
  for (const [what, operations, result] of cases) {
    test(what, () => assert.deepEqual(differences(operations), result))
  }
})

suite('a patch leaves alone', () => {
  for (const path of [
    ...['id', 'meta', 'meta.created', 'schemas', 'groups', 'roles', 'entitlements', 'password', 'photos', 'ims'],
    ...['roles[type eq "x"].value', 'x509Certificates', 'manager.displayName', `${enterpriseSchema}:manager.$ref`],
    ...['urn:acme:params:1.0:User:badge', 'urn:acme:params:1.0:User', 'ROLES', 'urn:x'],
  ]) {
    test(path, () => {
      assert.deepEqual(differences([{ op: 'add', path, value: 'admin' }]), {})
      assert.deepEqual(differences([{ op: 'replace', path, value: [{ value: 'admin' }] }]), {})
      assert.deepEqual(differences([{ op: 'remove', path }]), {})
      assert.deepEqual(differences([{ op: 'add', value: { [path]: 'admin', title: 'x' } }]), { title: 'x' })
    })
  }
})

suite('a patch is refused', () => {
  const path = 'title'
  const cases: [string, unknown[], string][] = [
    ['of an unknown attribute', [{ op: 'replace', path: 'nope', value: 'x' }], '400 invalidPath'],
    ['of an unknown part', [{ op: 'replace', path: 'name.nope', value: 'x' }], '400 invalidPath'],
    ['of an unknown attribute without a path', [{ op: 'add', value: { nope: 'x' } }], '400 invalidPath'],
    ['with a path that is none', [{ op: 'replace', path: 'emails[type eq "work"', value: 'x' }], '400 invalidPath'],
    ['with a path that is no text', [{ op: 'replace', path: ['title'], value: 'x' }], '400 invalidPath'],
    [
      'with a filter on what is no list',
      [{ op: 'replace', path: 'title[value eq "x"]', value: 'x' }],
      '400 invalidPath',
    ],
    [
      'with a filter that is none',
      [{ op: 'replace', path: 'emails[type is "work"].value', value: 'x' }],
      '400 invalidFilter',
    ],
    [
      'with a filter on an unknown part',
      [{ op: 'replace', path: 'emails[nope eq "x"].value', value: 'x' }],
      '400 invalidFilter',
    ],
    ['that is empty', [], '400 invalidSyntax'],
    ['with another word', [{ op: 'move', path, value: 'x' }], '400 invalidSyntax'],
    ['without a word', [{ path, value: 'x' }], '400 invalidSyntax'],
    ['with a word that is no text', [{ op: ['add'], path, value: 'x' }], '400 invalidSyntax'],
    ['of no object', [null], '400 invalidSyntax'],
    ['that adds nothing', [{ op: 'add', path }], '400 invalidValue'],
    ['that replaces with nothing', [{ op: 'replace', path }], '400 invalidValue'],
    ['that removes without a path', [{ op: 'remove' }], '400 noTarget'],
    ['that adds a text without a path', [{ op: 'add', value: 'x' }], '400 invalidValue'],
    ['that adds a list without a path', [{ op: 'add', value: [{ title: 'x' }] }], '400 invalidValue'],
    ['whose extension is no object', [{ op: 'add', path: enterpriseSchema, value: 'x' }], '400 invalidValue'],
    ['with an object for a text', [{ op: 'add', path, value: { a: 1 } }], '400 invalidValue'],
    ['with two texts for one', [{ op: 'add', path, value: ['a', 'b'] }], '400 invalidValue'],
    ['with a text for an object', [{ op: 'add', path: 'name', value: 'Ada' }], '400 invalidValue'],
    ['with a text for a truth', [{ op: 'replace', path: 'active', value: 'no' }], '400 invalidValue'],
    ['with a number for a truth', [{ op: 'replace', path: 'active', value: 0 }], '400 invalidValue'],
    ['with too long a text', [{ op: 'replace', path, value: 'x'.repeat(601) }], '400 invalidValue'],
    [
      'with a name twice',
      [{ op: 'replace', path: 'name', value: { givenName: 'a', GIVENNAME: 'b' } }],
      '400 invalidSyntax',
    ],
    [
      'with too many values',
      [{ op: 'add', path: 'emails', value: Array.from({ length: 101 }, (_, n) => ({ value: `${n}` })) }],
      '400 invalidValue',
    ],
    // What is required stays: a user whose `active` is removed would be active again.
    ['that removes the user name', [{ op: 'remove', path: 'userName' }], '400 mutability'],
    ['that removes whether one is active', [{ op: 'remove', path: 'active' }], '400 mutability'],
    ['that makes it null', [{ op: 'replace', path: 'active', value: null }], '400 mutability'],
    ['that makes it empty, without a path', [{ op: 'replace', value: { active: '' } }], '400 mutability'],
    ['that makes the user name empty', [{ op: 'replace', path: 'userName', value: '' }], '400 mutability'],
  ]
  for (const [what, operations, refusal] of cases) {
    test(what, () => assert.equal(differences(operations), refusal))
  }

  for (const body of [undefined, null, [], 'x', {}, { Operations: null }, { Operations: {} }, { Operations: 'x' }]) {
    test(`whose body is ${JSON.stringify(body)}`, () => {
      assert.equal(
        scimOutcome(() => readPatch(userKind, body)),
        '400 invalidSyntax',
      )
    })
  }

  test('with more operations than a person has attributes, or a group members at once (I2)', () => {
    const many = (length: number) => ({
      Operations: Array.from({ length }, () => ({ op: 'add', path: 'externalId', value: 'x' })),
    })
    const outcome = (length: number, kind = userKind) => scimOutcome(() => readPatch(kind, many(length)).length)
    assert.deepEqual([outcome(500), outcome(501)], [500, '400 invalidSyntax'])
    assert.deepEqual([outcome(5_000, groupKind), outcome(5_001, groupKind)], [5_000, '400 invalidSyntax'])
  })
})

suite('names of JavaScript are no attributes (I4)', () => {
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    test(name, () => {
      const value = { polluted: true }
      for (const path of [
        name,
        `name.${name}`,
        `emails.${name}`,
        `emails[type eq "work"].${name}`,
        `${name}.polluted`,
      ]) {
        assert.equal(differences([{ op: 'add', path, value }]), '400 invalidPath', path)
      }
      assert.equal(
        differences([{ op: 'add', value: JSON.parse(`{"${name}": {"polluted": true}}`) }]),
        '400 invalidPath',
      )
      const inside = JSON.parse(`{"givenName": "A", "${name}": {"polluted": true}}`)
      const result = patched(
        userKind,
        adaBefore,
        readPatch(userKind, { Operations: [{ op: 'add', path: 'name', value: inside }] }),
      )
      assert.deepEqual(Object.keys(result.name as object).toSorted(), ['familyName', 'givenName', 'middleName'])
      assert.equal(({} as Record<string, unknown>).polluted, undefined)
    })
  }
})
