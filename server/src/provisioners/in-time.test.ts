import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pagesInTime } from './in-time.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('a list keeps none of the pages that were read, however long it is', async () => {
  const pages: WeakRef<object>[] = []
  async function* list() {
    for (let count = 0; count < 1_000; count += 1) {
      const page = { count }
      pages.push(new WeakRef(page))
      yield page
    }
  }
  let kept = 0
  for await (const { count } of pagesInTime(60_000, list, new AbortController().signal)) {
    if (count !== 999) continue
    // What is weakly referred to stays until the end of a turn.
    await new Promise(setImmediate)
    collectGarbage()
    kept = pages.filter((page) => page.deref() !== undefined).length
  }
  assert.ok(kept < 10, `${kept} of 1000 are kept`)
})

test('a list that is to give way ends at once, also where its target hangs', async () => {
  const others = new AbortController()
  let aborted = false
  async function* hang(signal: AbortSignal): AsyncGenerator<object> {
    signal.addEventListener('abort', () => {
      aborted = true
    })
    yield {}
    await new Promise(() => undefined)
  }
  const read = async () => {
    for await (const _ of pagesInTime(60_000, hang, others.signal)) others.abort()
  }
  await assert.rejects(read, { kind: 'transient', message: /lists too slowly, and others wait/ })
  assert.ok(aborted)
})
