import type { TSchema } from 'typebox'

/** A message that the service posts to receivers of its tenants. */
export type Outgoing = {
  summary: string
  /** What each header says, beside those of every call. */
  headers: Readonly<Record<string, string>>
  body: TSchema
  /** What is made of an answer, by its status. */
  answers: Readonly<Record<string, string>>
}

/** The `webhooks` of the OpenAPI document. `show`: puts components in place of schemas that have a name. */
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
