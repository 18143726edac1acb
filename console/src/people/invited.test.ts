import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { invitedUsers } from './invited.ts'

/** A word is an event: the user, then what happened. */
const read = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const [id = '', type] = word.split(':')
      return { type: `user.${type}`, subject: { id } }
    })

suite('who was invited and has not joined', () => {
  const cases: [what: string, newestFirst: string, expected: string[]][] = [
    ['is nobody where nothing happened', '', []],
    ['is who was invited, the last one first', 'b:invited a:invited', ['b', 'a']],
    ['is once who was invited twice, at the last time', 'a:invited b:invited a:invited', ['a', 'b']],
    ['is not who has joined', 'a:joined b:invited a:invited', ['b']],
    ['is not who signed in at the provider', 'a:linked a:invited', []],
    ['is not who was deleted', 'a:deleted a:invited', []],
    ['is not who was only deleted, or came by a provider', 'a:deleted b:linked', []],
  ]
  for (const [what, events, expected] of cases) test(what, () => assert.deepEqual(invitedUsers(read(events)), expected))
})
