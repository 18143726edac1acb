import type { TSchema } from 'typebox'

/** A message that the service posts to the receivers of tenants. */
export type Outgoing = {
  summary: string
  /** The meaning of each header, beside the standard ones. */
  headers: Readonly<Record<string, string>>
  body: TSchema
  /** What the service does on an answer, by its status. */
  answers: Readonly<Record<string, string>>
}

/** The `webhooks` of the OpenAPI document. `show`: replaces named schemas with references to components. */
export function describeOutgoing(
  outgoing: Readonly<Record<string, Outgoing>>,
  show: (schema: TSchema) => unknown,
): Record<string, unknown> {
  const described = Object.entries(outgoing).map(([name, { summary, headers, body, answers }]) => {
    const parameters = Object.entries(headers).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      schema: { type: 'string' },
      description,
    }))
    const requestBody = { required: true, content: { 'application/json': { schema: show(body) } } }
    const responses = Object.fromEntries(
      Object.entries(answers).map(([status, description]) => [status, { description }]),
    )
    return [name, { post: { summary, security: [], parameters, requestBody, responses } }]
  })
  return Object.fromEntries(described)
}
