import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestOverTls } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { CallOptions, Egress } from '../kernel/context.ts'

/** Resolves a host to at least one address, or throws. */
export type Resolve = Egress['resolve']

const usualAnswerBytes = 1024 * 1024

/** The answer was not read to its end. */
export class AnswerTooLong extends Error {}

/** Makes one HTTP call on its own connection, to an address from `resolve`. It does not follow redirects. */
export async function callOut(url: URL, resolve: Resolve, options: CallOptions): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal, maxAnswerBytes = usualAnswerBytes } = options
  // Resolved before the call, since Node connects to a literal address without calling `lookup`.
  const addresses = await resolve(hostOf(url))
  const call = url.protocol === 'https:' ? requestOverTls : requestPlain
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const answered = await new Promise<IncomingMessage>((fulfil, reject) => {
    const request = call(
      url,
      { method, headers: { ...headers, ...length }, signal, agent: false, lookup: pinnedTo(addresses) },
      fulfil,
    )
    request.once('error', reject)
    // When the answer switches protocols, Node closes the connection without an error, and the promise would never settle.
    request.once('close', () => reject(new Error('the connection was closed without an answer')))
    request.end(body)
  })
  return readAnswer(answered, maxAnswerBytes)
}

/** The host for a resolver: an IPv6 address without brackets, and no trailing dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** Returns the checked addresses, so that a name that resolves differently the second time cannot bypass the check. */
function pinnedTo(addresses: { address: string; family: number }[]): LookupFunction {
  return (host, options, done) => {
    const fitting = options.family ? addresses.filter(({ family }) => family === options.family) : addresses
    const [first] = fitting
    if (first === undefined) return done(new Error(`no address of \`${host}\` fits`), '', 0)
    if (options.all) return done(null, fitting)
    return done(null, first.address, first.family)
  }
}

async function readAnswer(answered: IncomingMessage, maxBytes: number): Promise<Response> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answered as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) {
      answered.destroy()
      throw new AnswerTooLong(`the answer is longer than ${maxBytes} bytes`)
    }
    chunks.push(chunk)
  }
  const status = answered.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(answered.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const mayHoldBody = ![204, 205, 304].includes(status)
  return new Response(mayHoldBody ? Buffer.concat(chunks) : null, { status, headers })
}
