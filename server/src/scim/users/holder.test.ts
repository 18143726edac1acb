import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Holder, type Stranger, strangerOf } from './holder.ts'

const local: Holder = {
  ...{ id: 'u1', email: 'ada@example.com', is_meant: false },
  ...{ in_directory: false, is_former: false, is_named: false },
}
const theirs: Holder = { ...local, in_directory: true }

const cases: [string, Holder[], Stranger][] = [
  ['is new where nobody has the address', [], 'add'],
  ['may be a user here who has it', [local], 'settle'],
  ['is the user who was made for the directory', [{ ...local, is_meant: true }], 'adopt'],
  ['may be one whose address is only like it', [{ ...local, is_meant: true, email: 'ada@exämple.com' }], 'settle'],
  ['is not an active user of a directory', [theirs], 'taken'],
  ['may be one whom this directory has stopped', [{ ...theirs, is_former: true }], 'settle'],
  [
    'is neither of two',
    [
      { ...theirs, is_former: true },
      { ...local, id: 'u2' },
    ],
    'taken',
  ],
]

for (const [name, holders, who] of cases) {
  test(`a person of a directory ${name}`, () => assert.equal(strangerOf(holders, 'Ada@example.com'), who))
}
