import { AsyncResource } from 'node:async_hooks'
import { text } from 'node:stream/consumers'
import { after, run } from 'node:test'
import { spec } from 'node:test/reporters'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { endOfFile } from './outputs.ts'
import type { FromWorker, Totals } from './report.ts'

/**
 * Runs the test files of its arguments one after another in this process, and reports each to the parent. A file's own
 * `after` hooks run at its end, before the next file is loaded. The process ends by itself once nothing is open any more.
 */
let sent: Promise<unknown> = Promise.resolve()
const send = (message: FromWorker) => {
  sent = new Promise((done) => process.send?.(message, done))
}

/** What node:test says at the end of each run; the parent says it once, for all files. */
const closingLine = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /

// The parent ends a process that hangs: an empty event loop is no end.
process.channel?.ref()
for (const file of process.argv.slice(2)) {
  send({ type: 'started', file })
  const began = performance.now()
  const { totals, output } = await runFile(file)
  for (const stream of [process.stdout, process.stderr]) stream.write(endOfFile)
  send({ type: 'finished', file, seconds: (performance.now() - began) / 1_000, totals, output })
}
// A disconnect drops what is not written yet, which is a lot where the parent is busy.
await sent
// Whatever a test left open keeps this process alive from here on, and its parent says so.
process.disconnect()

async function runFile(file: string): Promise<{ totals: Totals; output: string }> {
  const reporter = new spec()
  const output = text(reporter)
  const events = run({ files: [file], isolation: 'none' })
  const hooks = watchHooks()
  let totals: Totals | undefined
  const faults: string[] = []
  for await (const event of events) {
    if (event.type === 'test:summary') totals = { ...event.data.counts, success: event.data.success }
    if (event.type === 'test:complete') send({ type: 'progress', test: event.data.name })
    // Of all failures, this name is that of a hook of the file's own.
    if (event.type === 'test:fail' && event.data.name === event.data.file) {
      faults.push('a hook failed')
      hooks.failed()
    }
    if (event.type === 'test:diagnostic' && closingLine.test(event.data.message)) continue
    reporter.write(event)
  }
  reporter.end()
  if (totals === undefined) throw new Error(`\`${file}\` ended without a summary`)
  // What a file throws after its first test node:test keeps to itself. Asked for once more, the module throws it again.
  await import(pathToFileURL(file).href).catch((error) => faults.push(inspect(error)))
  if (faults.length === 0 || !totals.success) return { totals, output: await output }
  return {
    totals: { ...totals, failed: totals.failed + 1, success: false },
    output: `${await output}${faults.join('\n')}\n`,
  }
}

/**
 * Ends the run of the file whose `run()` was called just now, once its last `after` hook has run or one has failed. Where
 * files share a process, node:test itself ends a run when the event loop is empty, and learns of that by `beforeExit`.
 * A hook that is registered outside any test belongs to the newest run: this one comes before those of the file, begins when
 * its tests are done, and registers another, which comes after them.
 */
function watchHooks(): { failed(): void } {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const registerLast = AsyncResource.bind(() => after(() => ended.resolve()))
  after(() => {
    begun.resolve()
    registerLast()
  })
  void ended.promise.then(() => nextTurn()).then(() => process.emit('beforeExit', 0))
  return { failed: () => void begun.promise.then(() => ended.resolve()) }
}
