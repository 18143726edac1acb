import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParts, type Pasted, readPeople } from './pasted-people.ts'

const person = (user_name: string, external_id: string | null = null, email: string | null = null) => ({
  ...{ user_name, external_id, email },
})

const cases: [string, string[][], Pasted][] = [
  [
    'reads an export of Entra ID',
    [
      ['userPrincipalName', 'displayName', 'mail', 'objectId'],
      ['ada@corp.example', 'Ada', 'ada@example.com', '0a1b'],
    ],
    { people: [person('ada@corp.example', '0a1b', 'ada@example.com')] },
  ],
  [
    'reads a report of Okta',
    [
      ['User ID', 'Okta username', 'Primary email'],
      ['00u1', 'ada', 'ada@example.com'],
    ],
    { people: [person('ada', '00u1', 'ada@example.com')] },
  ],
  [
    'takes the address for the name where there is no other',
    [['Email'], ['ada@example.com']],
    { people: [person('ada@example.com', null, 'ada@example.com')] },
  ],
  [
    'reads addresses without a title',
    [['ada@example.com'], [' bob@example.com ']],
    { people: [person('ada@example.com'), person('bob@example.com')] },
  ],
  [
    'leaves out who has no name and no address',
    [
      ['login', 'email'],
      ['', ''],
      ['bob', ''],
    ],
    { people: [person('bob')] },
  ],
  [
    'takes the address of who has no name',
    [
      ['login', 'email'],
      ['', 'ada@example.com'],
    ],
    { people: [person('ada@example.com', null, 'ada@example.com')] },
  ],
  ['says that it does not know the columns', [['Name'], ['Ada']], { fault: 'noNames' }],
  ['says that there is nobody', [['login']], { fault: 'empty' }],
  ['says that there is nothing', [], { fault: 'empty' }],
]

for (const [name, table, expected] of cases) test(name, () => assert.deepEqual(readPeople(table), expected))

test('a long list goes in parts', () => assert.deepEqual(inParts([1, 2, 3], 2), [[1, 2], [3]]))
