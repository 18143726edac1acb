import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalidInput, Problem } from '../kernel/errors.ts'
import { periodicYield } from '../kernel/yield-to-event-loop.ts'
import { parseStrictJson } from './strict-json.ts'

export const bodyLimit = 1024 * 1024
const maxNesting = 32

/** Larger bodies are read one per turn of the event loop, so that many at once hold up no other request. */
const ownTurnBytes = 16 * 1024
const turn = periodicYield(0)

/**
 * Bodies are strict JSON in UTF-8, or plain text when the operation has a field for it. An empty body counts as no body,
 * for every content type.
 */
export function readBodiesStrictly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > ownTurnBytes) await turn()
    const { keepsBody } = request.routeOptions.config
    const read = body.length === 0 ? undefined : readBody(request, body)
    if (keepsBody) request.sentBody = body.toString()
    return read
  })
}

const plainText = /^text\/plain(\s*;\s*charset=("?)utf-8\2)?\s*$/i
const json = /^application\/json(\s*;\s*charset=("?)utf-8\2)?\s*$/i
const scimJson = /^application\/(?:scim\+)?json(\s*;\s*charset=("?)utf-8\2)?\s*$/i
const form = /^application\/x-www-form-urlencoded(\s*;\s*charset=("?)utf-8\2)?\s*$/i

function readBody({ headers, routeOptions }: FastifyRequest, body: Buffer): unknown {
  requireIdentity(headers)
  const { 'content-type': contentType = '' } = headers
  const { bodyText, bodyType } = routeOptions.config
  if (bodyType === 'form') {
    requireType(form.test(contentType), 'application/x-www-form-urlencoded')
    return readForm(decode(body))
  }
  if (bodyText !== undefined && plainText.test(contentType)) return { [bodyText]: readText(decode(body)) }
  if (bodyType === 'scim') requireType(scimJson.test(contentType), 'application/scim+json')
  else requireType(json.test(contentType), 'application/json')
  return parseStrictJson(decode(body), { depth: maxNesting, values: routeOptions.config.bodyValues })
}

function requireType(isRight: boolean, type: string): void {
  if (!isRight) throw new Problem('unsupported_media_type', `send the body as \`${type}\` in UTF-8`)
}

const maxFormFields = 100

/** A form's fields, each once. Like JSON, a form that another parser would read differently is refused. */
function readForm(text: string): unknown {
  const pairs = text.split('&', maxFormFields + 1)
  if (pairs.length > maxFormFields) throw invalidInput([{ pointer: '', why: 'has too many fields' }])
  const fields = new Map<string, string>()
  for (const pair of pairs) {
    if (pair === '') continue
    const [written = ''] = pair.split('=', 1)
    const name = readFormText(written)
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (fields.has(name)) throw invalidInput([{ pointer, why: 'is present twice: send it once' }])
    if (name === '__proto__') throw invalidInput([{ pointer, why: 'is a field that is not allowed: rename it' }])
    fields.set(name, readFormText(pair.slice(written.length + 1), pointer))
  }
  return Object.fromEntries(fields)
}

/** `URLSearchParams` would replace what is no UTF-8, and leave a malformed escape as it is. */
function readFormText(written: string, pointer = ''): string {
  try {
    return readText(decodeURIComponent(written.replaceAll('+', ' ')), pointer)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw invalidInput([{ pointer, why: 'is not valid UTF-8 in the encoding of a form' }])
  }
}

/** Bodies are never decompressed: a few bytes could become gigabytes. */
function requireIdentity({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): void {
  if (encoding.toLowerCase() === 'identity') return
  throw new Problem('unsupported_media_type', 'the body is encoded; send it without `Content-Encoding`')
}

/** Refuses NUL, as `parseStrictJson` does in a string. */
function readText(text: string, pointer = ''): string {
  if (text.includes('\0')) throw invalidInput([{ pointer, why: 'contains the character NUL: leave it out' }])
  return text
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
  } catch {
    throw invalidInput([{ pointer: '', why: 'is not valid UTF-8' }])
  }
}
