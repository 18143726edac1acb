import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isGoKey } from './go-key.ts'
import { matches, movedTo } from './go-matches.ts'

suite('what matches a search', () => {
  const cases: [text: string, searched: string, expected: boolean][] = [
    ['payments-prod ReadOnlyAccess', 'pay', true],
    ['payments-prod ReadOnlyAccess', 'PROD read', true],
    ['payments-prod ReadOnlyAccess', 'payments-prod', true],
    ['payments-prod ReadOnlyAccess', 'ments', false],
    ['payments-prod ReadOnlyAccess', 'pay test', false],
    ['Büro', 'buro', true],
    ['Buro', 'Bü', true],
    ['Inbox', '', true],
    ['Inbox', ' - ', true],
  ]
  for (const [text, searched, expected] of cases)
    test(`“${searched}” ${expected ? 'finds' : 'does not find'} “${text}”`, () =>
      assert.equal(matches(text, searched), expected))
})

suite('the arrow keys', () => {
  const cases: [active: number, count: number, key: string, expected: number | undefined][] = [
    [0, 3, 'ArrowDown', 1],
    [2, 3, 'ArrowDown', 0],
    [0, 3, 'ArrowUp', 2],
    [1, 3, 'ArrowUp', 0],
    [0, 1, 'ArrowDown', 0],
    [0, 0, 'ArrowDown', undefined],
    [0, 3, 'Home', undefined],
  ]
  for (const [active, count, key, expected] of cases)
    test(`${key} at ${active} of ${count} goes to ${expected ?? 'nothing'}`, () =>
      assert.equal(movedTo(active, count, key), expected))
})

suite('the keys that open “go anywhere”', () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
  const cases: [what: string, pressed: Partial<KeyboardEvent>, platform: string, expected: boolean][] = [
    ['Ctrl+K on Linux', { key: 'k', ctrlKey: true }, 'Linux x86_64', true],
    ['Ctrl+K with caps lock', { key: 'K', ctrlKey: true }, 'Win32', true],
    ['Windows+K on Windows', { key: 'k', metaKey: true }, 'Win32', false],
    ['Ctrl+Shift+K', { key: 'K', ctrlKey: true, shiftKey: true }, 'Linux x86_64', false],
    ['Ctrl+Alt+K', { key: 'k', ctrlKey: true, altKey: true }, 'Linux x86_64', false],
    ['⌘K on a Mac', { key: 'k', metaKey: true }, 'MacIntel', true],
    ['Ctrl+K on a Mac', { key: 'k', ctrlKey: true }, 'MacIntel', false],
    ['⌘K on a tablet', { key: 'k', metaKey: true }, 'iPad', true],
    ['K alone', { key: 'k' }, 'Linux x86_64', false],
    ['Ctrl+J', { key: 'j', ctrlKey: true }, 'Linux x86_64', false],
  ]
  for (const [what, pressed, platform, expected] of cases)
    test(`${what}: ${expected ? 'yes' : 'no'}`, () =>
      assert.equal(isGoKey({ ...none, key: '', ...pressed }, platform), expected))
})
