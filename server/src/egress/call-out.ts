import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestOverTls } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { CallOptions, Egress } from '../kernel/context.ts'

/** Where a host is: at least one address, or it throws. */
export type Resolve = Egress['resolve']

const maxAnswerBytes = 1024 * 1024

/** One call on a connection of its own, to an address that `resolve` answers. Redirects come back as they are. */
export async function callOut(url: URL, resolve: Resolve, options: CallOptions): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = options
  // Resolved before the call, since an address in place of a name is connected to without any look-up.
  const addresses = await resolve(hostOf(url))
  const call = url.protocol === 'https:' ? requestOverTls : requestPlain
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const answered = await new Promise<IncomingMessage>((fulfil, reject) => {
    const asked = call(
      url,
      { method, headers: { ...headers, ...length }, signal, agent: false, lookup: pinnedTo(addresses) },
      fulfil,
    )
    asked.once('error', reject)
    // An answer that switches to another protocol is closed without an error, and would never end.
    asked.once('close', () => reject(new Error('the connection was closed without an answer')))
    asked.end(body)
  })
  return readAnswer(answered)
}

/** The host as a resolver takes it: an IPv6 address without its brackets, no dot at the end. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

/** Hands out what was looked at, so that a name which answers differently a second time leads nowhere else. */
function pinnedTo(addresses: { address: string; family: number }[]): LookupFunction {
  return (host, options, done) => {
    const fitting = options.family ? addresses.filter(({ family }) => family === options.family) : addresses
    const [first] = fitting
    if (first === undefined) return done(new Error(`no address of \`${host}\` fits`), '', 0)
    if (options.all) return done(null, fitting)
    return done(null, first.address, first.family)
  }
}

async function readAnswer(answered: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answered as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxAnswerBytes) {
      answered.destroy()
      throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`)
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
