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

/** Long work of a command line: progress goes to stderr, Ctrl-C ends the work between two batches, a second one ends it at once. */
export function openLongWork(): LongWork & { log: (line: string) => void } {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))
  }
  const log = (line: string) => console.error(line)
  const progress = progressTo(log)
  const onRows = (rows: number) => progress(() => `${rows.toLocaleString('en')} rows so far`)
  return { log, onRows, signal: stopping.signal }
}

/**
 * Runs the command with the arguments of the command line, as long work. An error is one line on stderr and exit code 1.
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
  try {
    console.error(await command.run(readConfig(), resolve(file), openLongWork()))
  } catch (error) {
    console.error(`${command.name} failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
