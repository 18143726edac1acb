import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../../../test/support/chance.ts'
import { bindResult, entry, reference, searchDone } from '../../../../test/support/scripted-ldap.ts'
import { maxMessageBytes, openFrames } from './frames.ts'
import { MalformedMessage, readMessage } from './read-message.ts'

const messages = [
  bindResult(1, 49, 'no'),
  entry(2, 'uid=ada', {
    mail: ['a@x', 'b@x'],
    photo: [Buffer.from([0xff, 0])],
    member: [],
    long: ['x'.repeat(70_000)],
  }),
  reference(3, 'ldap://x/dc=x'),
  searchDone(300, 'cookie'),
  searchDone(4, null, 4),
]

suite('a message', () => {
  test('is read', () => {
    assert.deepEqual(readMessage(messages[0] ?? Buffer.alloc(0)), {
      ...{ id: 1, kind: 'result', of: 'bind', cookie: undefined },
      result: { code: 49, diagnostic: 'no' },
    })
    const read = readMessage(messages[1] ?? Buffer.alloc(0))
    assert.ok(read.kind === 'entry')
    assert.equal(read.entry.dn, 'uid=ada')
    assert.deepEqual(read.entry.attributes.get('mail')?.map(String), ['a@x', 'b@x'])
    assert.deepEqual(read.entry.attributes.get('photo'), [Buffer.from([0xff, 0])])
    assert.deepEqual(readMessage(messages[2] ?? Buffer.alloc(0)), { id: 3, kind: 'reference', urls: ['ldap://x/dc=x'] })
    const done = readMessage(messages[3] ?? Buffer.alloc(0))
    assert.ok(done.kind === 'result')
    assert.deepEqual([done.id, done.cookie?.toString()], [300, 'cookie'])
  })

  test('is refused wherever it is cut, and with whatever byte', () => {
    const bytes = fc.record({ of: fc.constantFrom(...messages), at: fc.nat(60), to: fc.nat(255) })
    fc.assert(
      fc.property(bytes, ({ of, at, to }) => {
        const changed = Buffer.from(of)
        if (at < changed.length) changed[at] = to
        for (const one of [changed, of.subarray(0, at)]) {
          try {
            readMessage(one)
          } catch (error) {
            assert.ok(error instanceof MalformedMessage, String(error))
          }
        }
      }),
    )
    for (const of of messages)
      for (let at = 0; at < 60 && at < of.length; at++)
        assert.throws(() => readMessage(of.subarray(0, at)), MalformedMessage)
  })

  test('is refused where it is any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        assert.throws(() => readMessage(Buffer.from(bytes)), MalformedMessage)
      }),
    )
  })
})

suite('messages', () => {
  const whole = Buffer.concat(messages)

  test('are told apart however they arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
        const frames = openFrames()
        const places = [0, ...cuts.sort((one, other) => one - other), whole.length]
        const read = places.slice(1).flatMap((end, index) => frames.push(whole.subarray(places[index], end)))
        assert.deepEqual(read, messages)
        assert.equal(frames.isWithin(), false)
      }),
    )
  })

  test('are told apart byte by byte', () => {
    const frames = openFrames()
    const read = [...whole].flatMap((byte) => frames.push(Buffer.from([byte])))
    assert.deepEqual(read, messages)
  })

  test('are refused as soon as one is too long, or is none', () => {
    const head = Buffer.from([0x30, 0x84, 0, 0, 0, 0])
    head.writeUInt32BE(maxMessageBytes, 2)
    assert.throws(() => openFrames().push(head), /more than/)
    for (const bytes of [[0x31], [0x30, 0x80], [0x30, 0x85]]) {
      assert.throws(() => openFrames().push(Buffer.from(bytes)), MalformedMessage)
    }
  })
})
