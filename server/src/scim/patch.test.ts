import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  adaBefore as before,
  bossOfAda as boss,
  differences,
  homeOfAda as home,
  patchedAda,
  workOfAda as work,
} from '../../test/support/scim-ada.ts'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { enterpriseSchema, userKind, userSchema } from './attribute.ts'
import { patched, readPatch } from './patch.ts'

type Case = [string, unknown[], unknown]

suite('a patch as directories send it', () => {
  const cases: Case[] = [
    // Okta: no path, an object of what changes.
    ['Okta deactivates', [{ op: 'replace', value: { active: false } }], { active: false }],
    ['Okta sends back the id', [{ op: 'replace', value: { id: 'x', active: false } }], { active: false }],
    ['Okta sets a password, which is not kept', [{ op: 'replace', value: { password: 'hunter2' } }], {}],
    // Entra ID: capital letters, booleans as texts, paths with filters, dotted names without a path.
    ['Entra ID deactivates', [{ op: 'Replace', path: 'active', value: 'False' }], { active: false }],
    ['Entra ID deactivates, today', [{ op: 'Replace', path: 'active', value: false }], { active: false }],
    [
      'Entra ID changes the address of work',
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'new@example.com' }],
      { emails: [{ ...work, value: 'new@example.com' }, home] },
    ],
    [
      'Entra ID adds a telephone of a kind of which there is none',
      [{ op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' }],
      { phoneNumbers: [{ type: 'mobile', value: '+1 555' }] },
    ],
    [
      'Entra ID makes an address in parts',
      [
        { op: 'Add', path: 'addresses[type eq "work"].country', value: 'DE' },
        { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'Berlin' },
      ],
      { addresses: [{ type: 'work', country: 'DE', locality: 'Berlin' }] },
    ],
    [
      'Entra ID names many at once, by dotted names and URIs',
      [
        {
          op: 'Add',
          value: {
            'name.givenName': 'Augusta',
            'emails[type eq "home"].value': 'new@home.example',
            [`${enterpriseSchema}:department`]: 'Maths',
            [`${userSchema}:title`]: 'Countess',
          },
        },
      ],
      {
        name: { ...(before.name as object), givenName: 'Augusta' },
        emails: [work, { ...home, value: 'new@home.example' }],
        title: 'Countess',
        [enterpriseSchema]: { department: 'Maths', ...boss },
      },
    ],
    [
      'Entra ID sets the manager by a text',
      [{ op: 'Add', path: `${enterpriseSchema}:manager`, value: 'chief' }],
      { [enterpriseSchema]: { department: 'Ops', manager: { value: 'chief' } } },
    ],
    [
      'Entra ID removes the manager',
      [{ op: 'Remove', path: `${enterpriseSchema}:manager` }],
      { [enterpriseSchema]: { department: 'Ops' } },
    ],
    [
      'Entra ID removes the manager by an empty value',
      [{ op: 'Replace', path: `${enterpriseSchema}:manager.value`, value: '' }],
      { [enterpriseSchema]: { department: 'Ops' } },
    ],
    // OneLogin, JumpCloud, PingIdentity, Google.
    [
      'OneLogin replaces the address with a list',
      [{ op: 'replace', path: 'emails', value: [{ value: 'new@example.com', primary: true }] }],
      { emails: [{ value: 'new@example.com', primary: true }] },
    ],
    [
      'JumpCloud sets a name',
      [{ op: 'replace', path: 'name.familyName', value: 'King' }],
      { name: { ...(before.name as object), familyName: 'King' } },
    ],
    [
      'PingIdentity names the schema',
      [{ op: 'replace', path: `${userSchema}:active`, value: false }],
      { active: false },
    ],
    [
      'an extension as a whole',
      [{ op: 'replace', path: enterpriseSchema, value: { department: 'Maths' } }],
      { [enterpriseSchema]: { department: 'Maths', ...boss } },
    ],
    [
      'an extension without a path',
      [{ op: 'add', value: { [enterpriseSchema.toUpperCase()]: { costCenter: '7', manager: { value: 'chief' } } } }],
      { [enterpriseSchema]: { department: 'Ops', costCenter: '7', manager: { value: 'chief' } } },
    ],
    ['an extension that goes', [{ op: 'remove', path: enterpriseSchema }], { [enterpriseSchema]: null }],
    [
      'an attribute of the extension without its URI',
      [{ op: 'remove', path: 'department' }],
      { [enterpriseSchema]: boss },
    ],
    [
      'a manager as a list of one, with what can only be read',
      [{ op: 'replace', path: 'manager', value: [{ value: 'chief', displayName: 'C', $ref: 'https://x' }] }],
      { [enterpriseSchema]: { department: 'Ops', manager: { value: 'chief' } } },
    ],
    ['a manager of whom only the name is sent', [{ op: 'replace', path: 'manager', value: { displayName: 'C' } }], {}],
  ]
  for (const [what, operations, result] of cases) {
    test(what, () => assert.deepEqual(differences(operations), result))
  }

  for (const form of [
    {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path: 'title', value: 'x' }],
    },
    { operations: [{ OP: 'REPLACE', PATH: 'TITLE', VALUE: 'x' }] },
    { Operations: [{ op: 'Add', Path: ' title ', value: 'x' }] },
    { Operations: [{ op: 'replace', path: '', value: { title: 'x' } }] },
    { Operations: [{ op: 'replace', path: null, value: { Title: 'x' } }] },
  ]) {
    test(`names count in whatever case: ${JSON.stringify(form)}`, () => {
      assert.deepEqual(patchedAda(form), { ...before, title: 'x' })
    })
  }
})

suite('null, and what is empty', () => {
  const full = before.name as object
  const cases: Case[] = [
    ['replaces nothing by null', [{ op: 'replace', path: 'title', value: null }], { title: null }],
    ['an empty text is none', [{ op: 'replace', path: 'title', value: '' }], { title: null }],
    [
      'a part that is null goes',
      [{ op: 'replace', path: 'name', value: { middleName: null } }],
      { name: { givenName: 'Ada', familyName: 'Lovelace' } },
    ],
    [
      'a part that is empty goes',
      [{ op: 'add', path: 'name', value: { MIDDLENAME: '' } }],
      { name: { givenName: 'Ada', familyName: 'Lovelace' } },
    ],
    [
      'other parts stay',
      [{ op: 'replace', path: 'name', value: { givenName: 'A' } }],
      { name: { ...full, givenName: 'A' } },
    ],
    ['a whole goes', [{ op: 'replace', path: 'name', value: null }], { name: null }],
    ['a list goes by an empty list', [{ op: 'replace', path: 'emails', value: [] }], { emails: null }],
    ['nothing is added by null', [{ op: 'add', path: 'emails', value: null }], {}],
    [
      'an address without a value goes',
      [{ op: 'replace', path: 'emails[type eq "home"].value', value: null }],
      { emails: [work] },
    ],
    ['nothing is made of null', [{ op: 'add', path: 'addresses[type eq "work"].country', value: null }], {}],
    ['a removal with null is one without a value', [{ op: 'remove', path: 'emails', value: null }], { emails: null }],
    ['a removal of no values removes none', [{ op: 'remove', path: 'emails', value: [] }], {}],
  ]
  for (const [what, operations, result] of cases) {
    test(what, () => assert.deepEqual(differences(operations), result))
  }
})

test('a patch is refused as soon as the user becomes too long, however it goes on', () => {
  const addresses = Array.from({ length: 100 }, (_, place) => ({
    formatted: `${place}${'x'.repeat(590)}`,
    region: 'y'.repeat(600),
  }))
  const operations = [
    { op: 'add', value: { addresses } },
    { op: 'remove', path: 'addresses' },
  ]
  const before = { userName: 'ada@example.com' }
  const outcome = scimOutcome(() => patched(userKind, before, readPatch(userKind, { Operations: operations })))
  assert.equal(outcome, '400 invalidValue')
})
