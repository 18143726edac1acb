import type { IncomingMessage } from 'node:http'

/** What of a request is known before its body. */
export type RequestHead = Pick<IncomingMessage, 'url' | 'httpVersion' | 'rawHeaders' | 'headers'>

/**
 * What is wrong with the head of a request that the parser let pass, in a sentence; undefined when nothing is. Each of
 * these a proxy before the service may take otherwise than the service does: where a request ends, or what it asks for.
 */
export function headFault({ url = '', httpVersion, rawHeaders, headers }: RequestHead): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'the request is not in HTTP/1.1; send it so'
  if (!url.startsWith('/')) return 'the request must name a path that begins with `/`; leave scheme and host out'
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1'))
    return 'the request must have one header `Host`; send it once'
  const coding = headers['transfer-encoding']
  if (coding === undefined || (httpVersion === '1.1' && coding.toLowerCase() === 'chunked')) return undefined
  return '`Transfer-Encoding` is taken in HTTP/1.1 alone, and `chunked` alone; send `Content-Length`'
}
