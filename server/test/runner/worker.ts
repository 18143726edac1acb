import { AsyncResource } from 'node:async_hooks'
import { flushCompileCache } from 'node:module'
import { text } from 'node:stream/consumers'
import { after, run } from 'node:test'
import { spec } from 'node:test/reporters'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { endOfFile } from './outputs.ts'
import type { FromWorker, Totals } from './report.ts'

/**
 * Runs the test files of its arguments one after another in this process, and reports each to the parent. A file's own `after`
 * hooks run at its end, before the next file is loaded. The process ends by itself once nothing keeps it open.
 */
let sent: Promise<unknown> = Promise.resolve()
const send = (message: FromWorker) => {
  sent = new Promise((done) => process.send?.(message, done))
}

/** The closing lines that node:test prints for each run; the parent prints them once, for all files. */
const closingLine = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /

// The channel keeps the process alive: the parent ends a process that hangs, an empty event loop does not.
process.channel?.ref()
for (const file of process.argv.slice(2)) {
  send({ type: 'started', file })
  const began = performance.now()
  const { totals, output } = await runFile(file)
  for (const stream of [process.stdout, process.stderr]) stream.write(endOfFile)
  send({ type: 'finished', file, seconds: (performance.now() - began) / 1_000, totals, output })
  // Else the cache is written when the process ends, and the processes that start meanwhile compile the same modules again.
  if (file === process.argv[2]) flushCompileCache()
}
// A disconnect drops unsent messages, which are many if the parent is busy.
await sent
// From here on anything that a test left open keeps this process alive, and the parent reports it.
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
    // Only a failed hook of the file itself has this name.
    if (event.type === 'test:fail' && event.data.name === event.data.file) {
      faults.push('a hook failed')
      hooks.failed()
    }
    if (event.type === 'test:diagnostic' && closingLine.test(event.data.message)) continue
    reporter.write(event)
  }
  reporter.end()
  if (totals === undefined) throw new Error(`\`${file}\` ended without a summary`)
  // node:test hides an error that a file throws after its first test. Importing the module again throws it again.
  await import(pathToFileURL(file).href).catch((error) => faults.push(inspect(error)))
  if (faults.length === 0 || !totals.success) return { totals, output: await output }
  return {
    totals: { ...totals, failed: totals.failed + 1, success: false },
    output: `${await output}${faults.join('\n')}\n`,
  }
}

/**
 * Ends the run of the file whose `run()` was just called, once its last `after` hook has run or one has failed. For files that
 * share a process, node:test itself ends a run when the event loop is empty, which it learns from `beforeExit`. A hook
 * registered outside any test belongs to the newest run. This hook is registered before those of the file, starts when the
 * file's tests are done, and registers another hook, which runs after the file's own.
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
