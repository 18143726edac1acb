import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Directory } from './scim-stage.ts'

/** A request that a directory documents, and what it looks for in the answer. `{name}` stands for an id that an earlier step kept. */
export type Step = {
  what: string
  method: string
  path: string
  body?: unknown
  status: number
  /** Parts of the answer: objects may have more, lists have the same length. */
  answer?: unknown
  /** Keeps the id of the answer under this name. */
  keep?: string
}

/** A test for each step, in turn. */
export function playSequence({ call }: Directory, steps: readonly Step[]): void {
  const ids = new Map<string, string>()
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids.get(name) ?? whole)
  const filledIn = (value: unknown): unknown =>
    value === undefined ? undefined : JSON.parse(filled(JSON.stringify(value)))

  for (const { what, method, path, body, status, answer, keep } of steps) {
    test(`${what}: ${method} ${path}`, async () => {
      const [before, query] = filled(path).split('?', 2)
      const reply = await call(
        method,
        query === undefined ? String(before) : `${before}?${encodeQuery(query)}`,
        filledIn(body),
      )
      assert.equal(reply.status, status, reply.text)
      if (keep !== undefined) ids.set(keep, String(reply.body.id))
      if (answer !== undefined) requirePart(reply.body, filledIn(answer), reply.text)
    })
  }
}

/** As clients write the values of a query. */
const encodeQuery = (query: string) =>
  query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      return `${pair.slice(0, at)}=${encodeURIComponent(pair.slice(at + 1))}`
    })
    .join('&')

function requirePart(whole: unknown, part: unknown, text: string): void {
  if (typeof part !== 'object' || part === null) {
    assert.deepEqual(whole, part, text)
    return
  }
  assert.equal(Array.isArray(whole), Array.isArray(part), text)
  if (Array.isArray(part)) assert.equal((whole as unknown[]).length, part.length, text)
  for (const [name, value] of Object.entries(part)) requirePart((whole as Record<string, unknown>)[name], value, text)
}
