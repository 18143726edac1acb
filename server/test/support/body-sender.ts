import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { longVariable } from './race.ts'

export type Answer = { status: number; code: string; fields: { pointer: string; why: string }[]; text: string }
export type Sender = (body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>) => Promise<Answer>

/** Sends any text or bytes as the body of this call, with these headers and more. */
export function senderTo(address: string, method: string, headers: Record<string, string>): Sender {
  return async (body, more = {}) => {
    const signal = AbortSignal.timeout(60_000)
    const reply = await fetch(address, { method, body, headers: { ...headers, ...more }, signal })
    const text = await reply.text()
    const { code = '', details = {} } = (text === '' ? {} : JSON.parse(text)) as { code?: string; details?: object }
    const fields = 'fields' in details ? (details.fields as Answer['fields']) : []
    return { status: reply.status, code, fields, text }
  }
}

/** Asserts a refusal as invalid input that names the place, without text of the database. */
export function requireRefused(answer: Answer, pointer: string, what: string): void {
  assert.deepEqual([answer.status, answer.code], [400, 'invalid_input'], `${what}: ${answer.text}`)
  assert.ok(
    answer.fields.some((field) => field.pointer === pointer),
    `${what} should name \`${pointer}\`: ${answer.text}`,
  )
}

/** 50 MB in 50 KB. */
export const bomb = new Uint8Array(gzipSync(Buffer.alloc(50_000_000, ' ')))

/** Texts that make a careless expression try every path, and that are as long as possible. */
const longest = process.env[longVariable] === undefined ? 300_000 : 1_000_000
export const cunningTexts: readonly [string, string][] = [
  ['letters and a mark', `${'a'.repeat(longest)}!`],
  ['letters and a line break', `${'a'.repeat(longest)}\n`],
  ['spaces and a letter', `${' '.repeat(longest)}x`],
  ['dots and dashes', `a@${'a.-'.repeat(longest / 3)}`],
  ['accents on one letter', `e${'\u0301'.repeat(longest / 2)}`],
  ['braces', '{"'.repeat(longest / 4)],
]
