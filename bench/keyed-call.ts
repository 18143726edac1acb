import { type Lane, openLane } from './lane.ts'

/** Who calls: an API key of a tenant. */
export type Keyed = { tenant_id: string; key: string }

type Call = [caller: Keyed, method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown]

/**
 * Calls the service by an API key over a connection that is free, and returns the body of the answer.
 * @throws for an answer of 300 and above
 */
export async function keyedCall<Body>(
  { lane, port }: { lane: Lane; port: number },
  ...[{ tenant_id, key }, method, path, body]: Call
): Promise<Body> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${method} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `x-tenant-id: ${tenant_id}`,
    `x-api-key: ${key}`,
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
  ]
  const reply = await lane.call(`${head.join('\r\n')}\r\n\r\n${text}`)
  if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.body.slice(0, 2_000)}`)
  return JSON.parse(reply.body) as Body
}

/** The same over a connection of its own. */
export async function callOnce<Body>(port: number, ...call: Call): Promise<Body> {
  const lane = await openLane(port)
  return keyedCall<Body>({ lane, port }, ...call).finally(() => lane.close())
}
