import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

type Content = { content?: { 'application/json': { schema: object } } }
type Operation = { requestBody?: Content; responses: Record<string, Content & { $ref?: string }> }

const id = 'https://sallyport/document'
const text = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8').replaceAll('"#/', `"${id}#/`)
const document = JSON.parse(text) as {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: { responses: Record<string, Content> }
}
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, verbose: true })
ajv.addKeyword('components')
ajv.addSchema({ $id: id, components: document.components }, undefined, undefined, false)

/**
 * What of this JSON does not fit an operation: its body, or its answer of this status. `…` stands for any value; of an answer, fields
 * may be left out.
 */
export function faultsOf(method: string, path: string, status: string | undefined, shown: unknown): string[] {
  const operation = method === 'webhook' ? document.webhooks[path]?.post : document.paths[path]?.[method.toLowerCase()]
  assert.ok(operation !== undefined, `the document has no ${method} ${path}`)
  const content = status === undefined ? operation.requestBody : answerOf(operation, status)
  const schema = content?.content?.['application/json'].schema
  assert.ok(schema !== undefined, `${method} ${path} has no such JSON`)
  const check = ajv.compile(schema)
  check(shown)
  const isWhole = status === undefined
  return (check.errors ?? [])
    .filter(({ keyword, data }) => data !== '…' && (isWhole || keyword !== 'required'))
    .map(({ instancePath, message }: ErrorObject) => `${instancePath} ${message}`)
}

function answerOf({ responses }: Operation, status: string): Content | undefined {
  const answer = responses[status]
  return answer?.$ref === undefined ? answer : document.components.responses[answer.$ref.split('/').at(-1) ?? '']
}
