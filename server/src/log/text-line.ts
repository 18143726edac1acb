import { line } from '../kernel/plain-words.ts'

const loud: Readonly<Record<string, string>> = { warn: 'warning: ', error: 'error: ', fatal: 'fatal: ' }

/** Of a stack, this much is shown. */
const maxStackLines = 20
const maxCharacters = 2_000

/**
 * An entry of the log for a terminal: `15:04:05  message  field=value`, with the stack of an error below it. What others wrote stays on
 * its line, without control characters. Pure. `json`: the entry as one object.
 */
export function textLine(json: string): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Record<string, unknown>
  const { stack, message, code } = (err ?? {}) as Record<string, unknown>
  const shown = Object.entries({ ...fields, cause: message, code }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`],
  )
  const first = [`${String(time).slice(11, 19)}  ${loud[String(level)] ?? ''}${msg}`, ...shown].join('  ')
  const below = typeof stack === 'string' ? stack.split('\n').slice(1, maxStackLines) : []
  const lines = [line(first, maxCharacters), ...below.map((one) => `    ${line(one.trim())}`)]
  return `${lines.join('\n')}\n`
}
