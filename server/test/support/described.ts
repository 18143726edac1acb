import assert from 'node:assert/strict'
import { errorsOf } from '../../src/http/openapi-errors.ts'
import type { Operation } from '../../src/http/operation.ts'
import { compileCheck } from '../../src/http/schema.ts'
import { eventsOf } from './event-stream.ts'

type Answer = { status: number; text: string; headers: Record<string, unknown> }
type Described = {
  name: string
  /** The segments of the path, with its placeholders. */
  parts: string[]
  operation: Operation
  check: ReturnType<typeof compileCheck> | undefined
}

/**
 * Checks every answer of a test run against its operation in openapi.json: an undescribed status, code or field fails the test
 * that received it. Returns the check, which ignores paths of no operation, and a search for the operation of a call.
 */
export function answersAsDescribed(operations: Record<string, Operation>) {
  const table: Described[] = Object.entries(operations).map(([name, operation]) => ({
    name,
    operation,
    parts: operation.path.split('/'),
    check: operation.reply === null ? undefined : compileCheck(operation.reply),
  }))
  const find = (method: string, url: string) => findDescribed(table, method, (url.split('?')[0] ?? '').split('/'))
  const requireDescribed = (method: string, url: string, answer: Answer): void => {
    const found = find(method, url)
    if (found === undefined) return
    assert.match(String(answer.headers['x-request-id']), /^[\w.-]+$/, `${found.name} answers without a request id`)
    if (answer.status >= 400) requireDescribedError(found, answer)
    else requireDescribedSuccess(found, answer)
  }
  return { requireDescribed, operationOf: (method: string, url: string) => find(method, url)?.operation }
}

/** A literal path takes precedence over one with a placeholder, whatever methods it has. */
function findDescribed(table: Described[], method: string, parts: string[]): Described | undefined {
  const isHere = (written: string, index: number) =>
    written.startsWith('{') ? parts[index] !== '' : written === parts[index]
  const [here] = table
    .filter((one) => one.parts.length === parts.length && one.parts.every(isHere))
    .sort((a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length)
  return table.find(({ operation }) => operation.method === method && operation.path === here?.operation.path)
}

function requireDescribedSuccess({ name, operation, check }: Described, answer: Answer): void {
  const { status, text, headers } = answer
  assert.equal(status, operation.status, `${name} answers a status that it does not declare`)
  if (status === 302) assert.equal(typeof headers.location, 'string', `${name} sends nowhere`)
  else if (check === undefined) assert.equal(text, '', `${name} answers a body`)
  else if (String(headers['content-type']).startsWith('text/plain')) {
    assert.ok(operation.replyText !== undefined, `${name} answers text`)
  } else {
    for (const one of recordsOf(operation, text)) {
      assert.deepEqual(check(one), [], `${name} answers what its schema does not allow`)
    }
  }
}

/** The values that the schema describes: the whole answer, each of its lines, or the data of its events. */
function recordsOf({ streams }: Operation, text: string): unknown[] {
  if (streams === undefined) return [JSON.parse(text)]
  if (streams === 'text/event-stream') {
    return eventsOf(text).flatMap(({ data }) => (data === undefined || 'hint' in data ? [] : [data]))
  }
  if (streams === 'text/csv') return readCsv(text)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

/** The lines of a table, by the headings of its columns. */
export function readCsv(text: string): Record<string, string>[] {
  const [columns = [], ...lines] = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
        ([, quoted, bare = '']) => quoted?.replaceAll('""', '"') ?? bare,
      ),
    )
  return lines.map((cells) => Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])))
}

function requireDescribedError({ name, operation }: Described, { status, text, headers }: Answer): void {
  const error = JSON.parse(text) as { code: string; message: string }
  const codes: readonly string[] = errorsOf(operation)
  assert.ok(codes.includes(error.code), `${name} answers ${status} \`${error.code}\`, which it does not declare`)
  assert.ok(error.message.length > 0, `${name} answers an error without a message`)
  if (['unavailable', 'idempotency_in_progress'].includes(error.code)) {
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/, `${name} does not say when to try again`)
  }
  const known = ['code', 'message', 'details', 'notices']
  assert.deepEqual(
    Object.keys(error).filter((key) => !known.includes(key)),
    [],
    `${name} answers more than an error object`,
  )
}
