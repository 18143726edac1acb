import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { enterpriseSchema } from './attribute.ts'
import { type Person, personOf } from './person.ts'
import type { Resource } from './read-resource.ts'

const ada = { userName: 'ada@example.com' }
const of = (resource: Resource) => scimOutcome(() => personOf(resource))
const fieldOf = (field: keyof Person, resource: Resource) => {
  const person = of(resource)
  return typeof person === 'string' ? person : person[field]
}

test('a person is what a directory says of them', () => {
  const resource = {
    ...{ userName: 'Ada', externalId: 'X1', displayName: 'Ada L.', title: 'Engineer', active: false },
    name: { givenName: 'Ada', familyName: 'Lovelace' },
    emails: [{ value: 'Ada@example.com' }],
    [enterpriseSchema]: { department: 'Ops', manager: { value: 'boss' } },
  }
  assert.deepEqual(of(resource), {
    user_name: 'Ada',
    external_id: 'X1',
    email: 'Ada@example.com',
    name: 'Ada L.',
    first_name: 'Ada',
    last_name: 'Lovelace',
    display_name: 'Ada L.',
    active: false,
    department: 'Ops',
    title: 'Engineer',
    manager_key: 'boss',
  })
  assert.deepEqual(of(ada), {
    user_name: 'ada@example.com',
    external_id: null,
    email: 'ada@example.com',
    name: 'ada@example.com',
    first_name: null,
    last_name: null,
    display_name: null,
    active: true,
    department: null,
    title: null,
    manager_key: null,
  })
})

suite('the address', () => {
  const [one, two, three] = ['one@a.example', 'two@a.example', 'three@a.example']
  const cases: [string, Resource, string][] = [
    [
      'is the primary one',
      {
        emails: [
          { value: one, type: 'work' },
          { value: two, primary: true },
        ],
      },
      two,
    ],
    ['is that of work, without a primary one', { emails: [{ value: one }, { value: two, type: 'work' }] }, two],
    ['is that of work, in whatever case', { emails: [{ value: one }, { value: two, type: 'Work' }] }, two],
    ['is the first, without either', { emails: [{ value: one, type: 'home' }, { value: two }] }, one],
    [
      'is no value that is empty',
      { emails: [{ primary: true }, { value: '', type: 'work' }, { value: three }] },
      three,
    ],
    [
      'is not one that is said not to be primary',
      {
        emails: [
          { value: one, primary: false },
          { value: two, type: 'work' },
        ],
      },
      two,
    ],
    ['is the user name, without any', {}, 'ada@example.com'],
    ['is in its normal form', { emails: [{ value: 'e\u0301@a.example' }] }, 'é@a.example'],
    [
      'is one, and the primary one, or refused',
      { emails: [{ value: 'no address', primary: true }, { value: two }] },
      '400 invalidValue',
    ],
    ['is never a list', { emails: [{ value: `${one}, ${two}` }] }, '400 invalidValue'],
    ['is on one line', { emails: [{ value: `${one}\r\nBcc: ${two}` }] }, '400 invalidValue'],
    ['has no invisible characters', { emails: [{ value: 'o\u200bne@a.example' }] }, '400 invalidValue'],
    ['is there', { userName: 'ada' }, '400 invalidValue'],
    ['is no text that is odd', { userName: 'ada', emails: 'x' }, '400 invalidValue'],
  ]
  for (const [what, more, email] of cases) test(what, () => assert.equal(fieldOf('email', { ...ada, ...more }), email))
})

suite('the name', () => {
  const cases: [string, Resource, string][] = [
    ['is that which people see', { displayName: 'Ada L.', name: { formatted: 'A', givenName: 'B' } }, 'Ada L.'],
    ['is the whole name', { name: { formatted: 'Dr. Ada Lovelace', givenName: 'B' } }, 'Dr. Ada Lovelace'],
    ['is made of its parts', { name: { givenName: 'Ada', familyName: 'Lovelace' } }, 'Ada Lovelace'],
    ['is made of one part', { name: { familyName: 'Lovelace' } }, 'Lovelace'],
    ['is the user name', {}, 'ada@example.com'],
    [
      'is the address, where nobody sees the user name',
      { userName: '\u200b', emails: [{ value: 'a@b.example' }] },
      'a@b.example',
    ],
    ['is one that can be seen', { displayName: ' \u200b\u2800 ', name: { givenName: 'Ada' } }, 'Ada'],
    ['is on one line', { displayName: 'Ada\r\nLovelace' }, 'Ada Lovelace'],
    ['is without marks of the direction', { displayName: '\u202eadA\u2066' }, 'adA'],
    ['is without characters that take no room', { displayName: 'A\u200bda\ufeff' }, 'Ada'],
    ['keeps what joins', { displayName: '\u{1f469}\u200d\u{1f4bb}' }, '\u{1f469}\u200d\u{1f4bb}'],
    ['is in its normal form', { displayName: 'Ade\u0301' }, 'Adé'],
    ['has 200 characters at most', { displayName: `${'\u{1f600}'.repeat(200)}x` }, '\u{1f600}'.repeat(200)],
  ]
  for (const [what, more, name] of cases) test(what, () => assert.equal(fieldOf('name', { ...ada, ...more }), name))
})

suite('the other facts', () => {
  const cases: [keyof Person, Resource, unknown][] = [
    ['first_name', { name: { givenName: 'x'.repeat(101) } }, 'x'.repeat(100)],
    ['last_name', { name: { familyName: `${'\u{1f600}'.repeat(101)}` } }, '\u{1f600}'.repeat(100)],
    ['display_name', { displayName: '\u200b' }, null],
    ['department', { [enterpriseSchema]: { department: ' O\u200bps\n' } }, 'Ops'],
    ['department', { [enterpriseSchema]: 'x' }, null],
    ['title', { title: 'x'.repeat(300) }, 'x'.repeat(200)],
    ['manager_key', { [enterpriseSchema]: { manager: { value: '' } } }, null],
    ['manager_key', { [enterpriseSchema]: { manager: 'x' } }, null],
    ['active', { active: undefined }, true],
    ['active', { active: true }, true],
    ['active', { active: false }, false],
  ]
  for (const [field, more, value] of cases) {
    test(`${field} of ${JSON.stringify(more)}`, () => assert.equal(fieldOf(field, { ...ada, ...more }), value))
  }

  test('a user name is required', () => {
    for (const resource of [{}, { userName: '' }, { userName: 7 }] as Resource[]) {
      assert.equal(of({ ...resource, emails: [{ value: 'a@b.example' }] }), '400 invalidValue')
    }
  })
})
