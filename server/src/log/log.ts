import pino from 'pino'
import { logLines } from './log-lines.ts'
import { textLine } from './text-line.ts'

/** The log of the service: one line for each entry, on standard output. */
export type Log = pino.Logger

/** `json`: one object a line. `text`: for a terminal. */
export type LogFormat = 'json' | 'text'

/** What the service says of its own start, stop and state: entries of level `info` that every level but `silent` shows. */
export type Say = (line: string, detail?: object) => void

type LogOptions = { level: string; format: LogFormat }

export type OpenedLog = {
  log: Log
  say: Say
  /** Why the process ends, at every level: an operator must not have to guess. */
  fail(line: string): void
}

export function openLog({ level, format }: LogOptions): OpenedLog {
  const isText = format === 'text'
  const output = isText ? { write: (line: string) => logLines.write(textLine(line)) } : logLines
  const options = {
    level,
    // The process and the host are what a supervisor adds.
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const log = pino(options, output)
  const said = log.child({}, { level: ['silent', 'debug', 'trace'].includes(level) ? level : 'info' })
  const last = log.child({}, { level: level === 'silent' ? 'fatal' : level })
  // For people, the sentence says it all.
  return {
    log,
    say: (line, detail = {}) => said.info(isText ? {} : detail, line),
    fail: (line) => last.fatal(line),
  }
}
