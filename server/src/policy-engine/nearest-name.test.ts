import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestName, nearestNames } from './nearest-name.ts'

test('the nearest name is the one with the fewest edits, if there are few enough', () => {
  assert.equal(nearestName('readonlyaccess', ['ReadOnlyAccess', 'ReadWriteAccess']), 'ReadOnlyAccess')
  assert.equal(nearestName('x', ['y']), undefined)
})

test('the nearest names come in the order of their edits, no more than are wanted', () => {
  const known = ['Restarts', 'Restart', 'Deploy', 'Reboot']
  assert.deepEqual(nearestNames('restart', known, 5), ['Restart', 'Restarts'])
  assert.deepEqual(nearestNames('restart', known, 1), ['Restart'])
})
