import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cursorCodec, resumeTokensOf } from '../http/cursor.ts'
import { newId } from '../kernel/id.ts'
import { beginning } from '../notifications/notification-store.ts'
import { derivedKeys, rootKeyOf, rootKeysOf } from '../secrets/root-key.ts'
import { markOf, openChangeFeed } from './change-feed.ts'
import { findPosition, positionText, rightsOf } from './stream-position.ts'

const position = {
  mark: '0123456789abcdef',
  notification: '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11',
  rights: '01234567',
}
const [older, newer] = [rootKeyOf(Buffer.alloc(32, 1)), rootKeyOf(Buffer.alloc(32, 2))]
const tokensOf = (boundTo: readonly string[], ...keys: Parameters<typeof rootKeysOf>[0]) =>
  resumeTokensOf(cursorCodec(derivedKeys(rootKeysOf(keys), 'cursor')), boundTo)
const mine = ['acme', 'streamChanges', '{}', 'stream', 'ada']
const tokens = tokensOf(mine, older)

test('a position is read as it was written, also by another process and after a rotation of the root key', () => {
  const text = positionText(tokens, position)
  assert.deepEqual(findPosition(tokens, text), position)
  assert.deepEqual(findPosition(tokensOf(mine, newer, older), text), position)
  assert.equal(findPosition(tokensOf(mine, newer), text), undefined)
})

test('two texts of one position differ, and none shows a part of it (T14)', () => {
  const texts = Array.from({ length: 50 }, () => positionText(tokens, position))
  assert.equal(new Set(texts).size, texts.length)
  for (const text of texts) {
    const bytes = Buffer.from(text, 'base64url').toString('latin1')
    for (const part of Object.values(position)) assert.ok(!text.includes(part) && !bytes.includes(part))
  }
})

test('the length of the text is the same for every position (T14)', () => {
  const noEvent = openChangeFeed(
    () => Promise.resolve([]),
    () => undefined,
  ).lastMark()
  const lengths = [noEvent, markOf(newId())].flatMap((mark) =>
    [beginning.id, newId()].flatMap((notification) =>
      [new Set<string>(), new Set(['requests:read', 'grants:read'])].map(
        (scopes) => positionText(tokens, { mark, notification, rights: rightsOf(scopes) }).length,
      ),
    ),
  )
  assert.deepEqual(new Set(lengths), new Set([positionText(tokens, position).length]))
})

test('every other text is no position (I3)', () => {
  const text = positionText(tokens, position)
  const odd = [`${text}x`, `x${text}`, `${text}\n`, text.toUpperCase(), text.slice(1), text.slice(0, -1), `${text}=`]
  const former = `${position.mark}.${position.notification}.${position.rights}`
  for (const one of [...odd, former, '', '1.2.3', '1 or 1=1', '\u0000', 'a'.repeat(10_000), position.notification]) {
    assert.equal(findPosition(tokens, one), undefined, one)
  }
  assert.equal(findPosition(tokens, tokens.seal([])), undefined)
})

test('a position belongs to its tenant, its operation and its user (T14)', () => {
  const text = positionText(tokens, position)
  for (const index of mine.keys()) {
    assert.equal(findPosition(tokensOf(mine.with(index, 'other'), older), text), undefined, mine[index])
  }
})

test('the mark of rights is the same for the same scopes alone', () => {
  const rights = rightsOf(new Set(['requests:read', 'grants:read']))
  assert.equal(rightsOf(new Set(['grants:read', 'requests:read'])), rights)
  assert.notEqual(rightsOf(new Set(['grants:read'])), rights)
  assert.match(rights, /^[0-9a-f]{8}$/)
  assert.match(rightsOf(new Set()), /^[0-9a-f]{8}$/)
})
