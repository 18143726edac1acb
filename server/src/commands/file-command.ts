import { resolve } from 'node:path'
import type { LongWork } from '../backup/backup.ts'
import { type Config, readConfig } from '../config/config.ts'

/** A command of the operator's with one file as its argument, which may take long. */
export type FileCommand = {
  name: string
  usage: string
  /** Answers what to say at the end. */
  run(config: Config, file: string, work: LongWork & { log: (line: string) => void }): Promise<string>
}

const tellEveryMs = 2_000

/**
 * Runs it with the arguments of the command line. How it goes is told on stderr; what goes wrong is one line there and
 * exit code 1. Ctrl-C ends it between two batches, so that it clears up behind itself; a second one at once.
 */
export async function runFileCommand(command: FileCommand, args: readonly string[]): Promise<void> {
  if (args.includes('-h') || args.includes('--help')) {
    console.log(command.usage)
    return
  }
  const [file, ...more] = args
  if (file === undefined || file.startsWith('-') || more.length > 0) {
    console.error(command.usage)
    process.exitCode = 1
    return
  }
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))
  }
  try {
    const log = (line: string) => console.error(line)
    const work = { log, onRows: progressTo(log), signal: stopping.signal }
    console.error(await command.run(readConfig(), resolve(file), work))
  } catch (error) {
    console.error(`${command.name} failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}

/** A line now and then, for work that takes longer than one would wait in silence. */
function progressTo(log: (line: string) => void): (rows: number) => void {
  let toldAt = performance.now()
  return (rows) => {
    if (performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    log(`${rows.toLocaleString('en')} rows so far`)
  }
}
