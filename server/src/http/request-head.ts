import type { IncomingMessage } from 'node:http'

/** The parts of a request that are known before its body. */
export type RequestHead = Pick<IncomingMessage, 'url' | 'httpVersion' | 'rawHeaders' | 'headers'>

/**
 * The fault of a request head that the parser accepted, in a sentence; undefined when there is none. A proxy in front of the
 * service may read each of these differently from the service: where a request ends, or what it requests.
 */
export function headFault({ url = '', httpVersion, rawHeaders, headers }: RequestHead): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'the request is not HTTP/1.1; use HTTP/1.1'
  if (!url.startsWith('/')) return 'the path must begin with `/`; leave out the scheme and the host'
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return 'the request must have exactly one `Host` header; send it once'
  const coding = headers['transfer-encoding']
  if (coding === undefined || (httpVersion === '1.1' && coding.toLowerCase() === 'chunked')) return undefined
  return '`Transfer-Encoding` must be `chunked`, and in HTTP/1.1 only; send `Content-Length` instead'
}
