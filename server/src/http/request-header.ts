import type { FastifyRequest } from 'fastify'

/** A header of a request by its lower-case name; one that came several times as one list. */
export function headerOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
