import openapiTypescript, { astToString } from 'openapi-typescript'

/** The parts of an OpenAPI document that the client's types depend on. */
type Document = { paths: Record<string, Record<string, Described>>; components: Components }
type Components = { schemas: Record<string, unknown>; responses?: unknown }
type Described = { parameters?: Parameter[]; responses?: Record<string, unknown> }
type Parameter = { in?: string; name?: string }

/** The headers that the client sends by itself. */
const sentByClient = new Set(['X-Tenant-ID', 'Idempotency-Key'])

const anyError = {
  description: 'what is wrong, and what to do',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

/**
 * The client's types, `api.ts`, from the API document. Each operation keeps its replies; all of its errors are one type, the error
 * object, whose `code` says which error it is. The headers that the client sends are left out.
 */
export async function clientTypes(document: object): Promise<string> {
  const { paths, components, ...rest } = structuredClone(document) as Document
  const { responses: _, ...used } = components
  const schemas = Object.entries(components.schemas).filter(([name]) => name === 'Error' || !name.endsWith('Error'))
  const lean = Object.entries(paths).map(([path, operations]) => [path, mapValues(operations, leanOperation)])
  const leanDocument = {
    ...rest,
    paths: Object.fromEntries(lean),
    components: { ...used, schemas: Object.fromEntries(schemas) },
  }
  const nodes = await openapiTypescript(leanDocument as never)
  return `// Generated from server/openapi.json by \`npm run generate\`.\n${astToString(nodes)}`
}

function leanOperation(operation: Described): Described {
  if (operation.responses === undefined) return operation
  const replies = Object.entries(operation.responses).filter(([status]) => status < '4')
  return {
    ...operation,
    parameters: (operation.parameters ?? []).filter(({ name = '' }) => !sentByClient.has(name)),
    responses: { ...Object.fromEntries(replies), default: anyError },
  }
}

function mapValues<Value>(record: Record<string, Value>, change: (value: Value) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
