import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../test/support/chance.ts'
import { MessageCutter } from './answer-reader.ts'

function message(letter: number, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head[0] = letter
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

test('messages come out whole and in order, wherever the stream was cut', () => {
  const messages = fc.array(fc.tuple(fc.integer({ min: 65, max: 122 }), fc.uint8Array({ maxLength: 40 })), {
    maxLength: 12,
  })
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(messages, sizes, (sent, chunkSizes) => {
      const heard: [number, Uint8Array][] = []
      const cutter = new MessageCutter((letter, bytes, at, end) =>
        heard.push([letter, Uint8Array.from(bytes.subarray(at, end))]),
      )
      const stream = Buffer.concat(sent.map(([letter, body]) => message(letter, body)))
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = chunkSizes[turn % chunkSizes.length] ?? 1
        cutter.push(stream.subarray(at, at + size))
        at += size
      }
      assert.deepEqual(heard, sent)
    }),
  )
})

test('what is no message of PostgreSQL is refused', () => {
  const cutter = new MessageCutter(() => undefined)
  assert.throws(() => cutter.push(Buffer.from([65, 0, 0, 0, 0, 0])), /no message of PostgreSQL/)
})
