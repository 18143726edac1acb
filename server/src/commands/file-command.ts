import { resolve } from 'node:path'
import type { LongWork } from '../backup/backup.ts'
import { type Config, readConfig } from '../config/config.ts'
import { progressTo } from './progress.ts'

/** An operator's command with one file as its argument, which may take long. */
export type FileCommand = {
  name: string
  usage: string
  /** Returns the message to print at the end. */
  run(config: Config, file: string, work: LongWork & { log: (line: string) => void }): Promise<string>
}

/**
 * Runs the command with the arguments of the command line. Progress goes to stderr; an error is one line there and exit code 1.
 * Ctrl-C ends the command between two batches, so that it can clean up; a second Ctrl-C ends it at once.
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
    const progress = progressTo(log)
    const onRows = (rows: number) => progress(() => `${rows.toLocaleString('en')} rows so far`)
    const work = { log, onRows, signal: stopping.signal }
    console.error(await command.run(readConfig(), resolve(file), work))
  } catch (error) {
    console.error(`${command.name} failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
