/** A part of the document. */
export type Json = { [name: string]: unknown }

export const requestIdHeader = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'the id of the request in the log' },
}

/** The rate limit headers follow draft-ietf-httpapi-ratelimit-headers. */
export const sharedHeaders = {
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'the rate limit: `q` requests at once, refilled over `w` seconds',
  },
  RateLimit: { schema: { type: 'string' }, description: '`r` requests remain; the limit is full again in `t` seconds' },
  'Retry-After': { schema: { type: 'integer' }, description: 'seconds to wait before a retry' },
  ETag: { schema: { type: 'string' }, description: 'the state of the record, for `If-Match`' },
  Location: { schema: { type: 'string' }, description: 'the path at which the new record is read' },
  'Set-Cookie': {
    schema: { type: 'string' },
    description: 'a cookie of the sign-in or the session, where one changes',
  },
  'Idempotency-Replayed': {
    schema: { type: 'string', const: 'true' },
    description: 'present when this is the answer to an earlier call with the same `Idempotency-Key`',
  },
}

export function referTo(...names: (keyof typeof sharedHeaders)[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

export const limitHeaders = referTo('RateLimit-Policy', 'RateLimit')
