import type { Json } from './openapi-headers.ts'

/** A call of an operation, and its answer: what `/docs` shows first, and fills its forms with. */
export type OperationExample = {
  /** The values of its path and query, by name. */
  parameters?: Readonly<Record<string, string>>
  body?: unknown
  /** The body of the answer where the call succeeds; absent where it has none. */
  answer?: unknown
}

type Described = { operationId: string; parameters?: Json[]; requestBody?: Content; responses: Record<string, Content> }
type Content = { content?: Record<string, Json> }

/** The description of an operation with the example of it. */
export function withExample(described: Json, { parameters = {}, body, answer }: OperationExample = {}): Json {
  const { requestBody, responses, parameters: declared = [], ...rest } = described as Described
  const success = Object.keys(responses).find((status) => status < '3') ?? ''
  return {
    ...rest,
    parameters: declared.map((one) => {
      const example = parameters[String(one.name)]
      return example === undefined ? one : { ...one, example }
    }),
    ...(requestBody !== undefined && { requestBody: body === undefined ? requestBody : showing(requestBody, body) }),
    responses:
      answer === undefined ? responses : { ...responses, [success]: showing(responses[success] ?? {}, answer) },
  }
}

function showing(described: Content, example: unknown): Content {
  const json = described.content?.['application/json']
  return { ...described, content: { ...described.content, 'application/json': { ...json, example } } }
}
