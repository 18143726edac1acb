import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/support/wait.ts'
import { openEventStream } from './event-stream.ts'
import type { ServerEvent } from './operation.ts'

const yes = () => Promise.resolve(true)
const quick = { heartbeatMs: 20, recheckMs: 20 }

/** Yields these events, and then nothing indefinitely; records how many were taken, and whether it was closed. */
function source(events: ServerEvent<unknown>[]) {
  const seen = { yielded: 0, letGo: false }
  async function* all() {
    try {
      for (const event of events) {
        seen.yielded += 1
        yield event
      }
      for (;;) {
        await pause(5)
        yield undefined
      }
    } finally {
      seen.letGo = true
    }
  }
  return { seen, all: all() }
}

test('sends the reconnection time, then each event as lines, and a comment as heartbeat', async () => {
  const { all, seen } = source([{ id: 'a' }, { id: 'b', event: 'told', data: { text: 'two\nlines' } }])
  const stream = await openEventStream(all, yes, quick)
  let output = ''
  for await (const text of stream) {
    output += String(text)
    if (output.endsWith(':\n\n:\n\n')) break
  }
  assert.match(output, /^retry: [1-5]\d{3}\nid: a\n\nid: b\nevent: told\ndata: \{"text":"two\\nlines"\}\n\n:\n\n:\n\n$/)
  await until('the source is closed', async () => seen.letGo)
})

test('ends once its reader is not allowed any more, with or without further events', async () => {
  for (const events of [[{ id: 'a' }, { id: 'b' }], [{ id: 'a' }]]) {
    const { all, seen } = source(events)
    const stream = await openEventStream(all, () => Promise.resolve(false), quick)
    let output = ''
    for await (const text of stream) output += String(text)
    assert.match(output, /^retry: \d+\nid: a\n\n$/)
    await until('the source is closed', async () => seen.letGo)
  }
})

test('fetches events only as fast as its reader takes them', async () => {
  const { all, seen } = source(Array.from({ length: 50 }, (_, index) => ({ id: String(index) })))
  const stream = await openEventStream(all, yes)
  assert.equal(seen.yielded, 1)
  stream.read()
  await until('the next is fetched', async () => seen.yielded >= 2)
  assert.ok(seen.yielded <= 3, `took ${seen.yielded}`)
  stream.destroy()
  await until('the source is closed', async () => seen.letGo)
})

test('fails before it begins if the events fail', async () => {
  async function* broken(): AsyncGenerator<undefined> {
    yield await Promise.reject(new Error('not today'))
  }
  await assert.rejects(openEventStream(broken(), yes), /not today/)
})
