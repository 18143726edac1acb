import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { parseStrictJson } from './strict-json.ts'

export const bodyLimit = 1024 * 1024
const deepestNesting = 32

/** Bodies are strict JSON in UTF-8. An empty one is none at all, whatever its content type. */
export function readBodiesStrictly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      const read = readBody(request.headers, body)
      if (request.routeOptions.config.keepsBody) request.sentBody = body.toString()
      done(null, read)
    } catch (problem) {
      done(problem as Problem)
    }
  })
}

function readBody(headers: IncomingHttpHeaders, body: Buffer): unknown {
  if (body.length === 0) return undefined
  const { 'content-type': contentType, 'content-encoding': encoding = 'identity' } = headers
  // Nothing is unpacked: a few bytes could become gigabytes.
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', 'send the body as it is, without `Content-Encoding`')
  }
  if (!/^application\/json(\s*;\s*charset=("?)utf-8\2)?\s*$/i.test(contentType ?? '')) {
    throw new Problem('unsupported_media_type', 'send the body as `application/json` in UTF-8')
  }
  return parseStrictJson(decode(body), { depth: deepestNesting })
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw invalidInput([{ pointer: '', why: 'is not valid UTF-8' }])
  }
}
