import { createServer, type RequestListener, type Server } from 'node:http'
import { inTurn } from './connection-turns.ts'
import { openUnreadAnswers } from './unread-answers.ts'

/** How long a request may take to arrive, including 5 s for its headers. */
const maxArrivalMs = 15_000
/** How long a connection may be idle while bytes are pending in either direction; then it is closed. */
const maxSilenceMs = 20_000
/** How long a connection may be idle between two requests: longer than load balancers keep theirs, which is often 60 s. */
const maxIdleMs = 72_000
/** How long output may wait for its reader, however busy the connection is; then it is closed. */
const usualUnreadMs = 60_000
const checkEveryMs = 1_000
/**
 * Open connections at most; further ones are closed. There is no limit per source: behind a proxy all connections come from
 * one source. When there is no room, those that wait for no answer are closed.
 */
const maxConnections = 2_000

/** Node's HTTP server, with limits of what one connection may hold. */
export function openNodeServer(
  handle: RequestListener,
  { maxUnreadMs = usualUnreadMs, maxOpen = maxConnections } = {},
): Server {
  const options = {
    requestTimeout: maxArrivalMs,
    headersTimeout: 5_000,
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout: maxIdleMs,
    // `headFault` checks it, since HTTP/1.0 has none.
    requireHostHeader: false,
  }
  const server = createServer(options, inTurn(handle))
  server.setTimeout(maxSilenceMs)
  server.maxConnections = maxOpen
  server.on('drop', () => server.closeIdleConnections())
  const unread = openUnreadAnswers(maxUnreadMs)
  server.on('connection', unread.watch)
  const checking = setInterval(() => unread.check(performance.now()), checkEveryMs).unref()
  server.once('close', () => clearInterval(checking))
  return server
}
