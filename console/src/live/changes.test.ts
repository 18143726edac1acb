import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { concerns, type Hint, type Key } from './changes.ts'

const cases: [Key, Hint, boolean][] = [
  [['request', 'r1'], { type: 'request', id: 'r1' }, true],
  [['request', 'r1', 'deciders'], { type: 'request', id: 'r1' }, true],
  [['request', 'r2'], { type: 'request', id: 'r1' }, false],
  [['request', 'list', 'inbox'], { type: 'request', id: 'r1' }, true],
  [['request', 'r2'], { type: 'request', id: null }, true],
  [['grant', 'list', 'own'], { type: 'request', id: 'r1' }, false],
  [['grant', 'list', 'own'], { type: 'grant', id: 'g1' }, true],
  [['catalogue', 'shortlist'], { type: 'grant', id: 'g1' }, true],
  [['catalogue', 'search', 'pay'], { type: 'policy', id: 'p1' }, true],
  [['preview', {}], { type: 'policy', id: 'p1' }, true],
  [['preview', 'gains', {}], { type: 'group', id: 'g1' }, true],
  [['preview', 'gains', {}], { type: 'request', id: 'r1' }, false],
  [['inventory', 'p1'], { type: 'provisioner', id: 'p1' }, true],
  [['inventory', 'p1', 'unmatched', null], { type: 'user', id: 'u1' }, true],
  [['me'], { type: 'notification', id: null }, true],
  [['me'], { type: 'request', id: 'r1' }, false],
  [['notification', 'list'], { type: 'notification', id: null }, true],
]

suite('which answers a change makes old', () => {
  for (const [key, hint, expected] of cases)
    test(`${JSON.stringify(key)} ${expected ? 'follows' : 'ignores'} ${hint.type} ${hint.id}`, () =>
      assert.equal(concerns(key, hint), expected))
})
