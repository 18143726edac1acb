import assert from 'node:assert/strict'
import { test } from 'node:test'
import { positionText, readPosition, rightsOf } from './stream-position.ts'

const position = {
  mark: '0123456789abcdef',
  notification: '018f6d5e-7e5a-7cc0-b0e6-7a9d1b5f4e11',
  rights: '01234567',
}

test('a position is read as it was written, and none is none', () => {
  assert.deepEqual(readPosition(positionText(position)), position)
  assert.equal(readPosition(''), undefined)
  assert.equal(readPosition(undefined), undefined)
})

test('refuses every other text (I3)', () => {
  const text = positionText(position)
  const odd = [`${text}x`, `x${text}`, `${text}\n`, text.toUpperCase(), text.replaceAll('.', '-'), position.mark]
  for (const one of [...odd, '1.2.3', '1 or 1=1', '\u0000', `${'a'.repeat(10_000)}.`, position.notification]) {
    assert.throws(() => readPosition(one), { code: 'invalid_input', status: 400 }, one)
  }
})

test('the mark of rights is the same for the same scopes alone', () => {
  const rights = rightsOf(new Set(['requests:read', 'grants:read']))
  assert.equal(rightsOf(new Set(['grants:read', 'requests:read'])), rights)
  assert.notEqual(rightsOf(new Set(['grants:read'])), rights)
  assert.match(rights, /^[0-9a-f]{8}$/)
  assert.match(rightsOf(new Set()), /^[0-9a-f]{8}$/)
})
