import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply } from 'fastify'
import { type ErrorCode, Problem } from '../kernel/errors.ts'
import { errorObject } from './error-object.ts'
import { setRetryHeaders } from './limits.ts'

/** The framework's own errors as Sallyport's error codes. */
const frameworkErrors: Record<string, (error: FastifyError) => Problem> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Problem('payload_too_large', 'the body is larger than this endpoint accepts; send a smaller one'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Problem('invalid_input', 'the body is not as long as `Content-Length` says'),
  FST_ERR_BAD_URL: () =>
    new Problem(
      'invalid_input',
      'the path is not well-formed; percent-encode all characters except letters and digits',
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Problem('unsupported_media_type', 'send the body as `application/json`'),
}

/** The problem for a thrown error: a `Problem` unchanged, a framework error translated, anything else `internal`. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  const { code } = thrown as FastifyError
  const translate = frameworkErrors[code]
  if (translate !== undefined) return translate(thrown as FastifyError)
  const { statusCode } = thrown as FastifyError
  if (statusCode !== undefined && statusCode < 500) return new Problem('invalid_input', 'the request is malformed')
  return new Problem('internal', 'the service failed; give the request id to its operator')
}

/** Sends the error object, and the headers that some statuses need. */
export function replyProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer realm="sallyport"')
  if (problem.status === 429) setRetryHeaders(reply, problem)
  if (problem.status === 503 || problem.code === 'idempotency_in_progress') reply.header('retry-after', '1')
  return sendText(reply.code(problem.status), errorText(problem))
}

/** The error object as it is sent. */
export function errorText(problem: Problem): string {
  return JSON.stringify(errorObject(problem))
}

/** Sends JSON text unchanged, byte for byte. */
export function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .type('application/json; charset=utf-8')
    .serializer((body: string) => body)
    .send(text)
}

/** Input that is not a valid HTTP request also gets the error object, with the HTTP status for its fault. */
const brokenRequests: Record<string, [status: string, code: ErrorCode, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'the path and the headers are larger than 16 KiB; send a shorter path, or fewer or shorter headers',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'invalid_input',
    'the request did not arrive in time; send it again',
  ],
}
const malformed = ['400 Bad Request', 'invalid_input', 'this is not a well-formed request'] as const

/** Answers on the socket itself when no request could be read, and closes it. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, code, message] = brokenRequests[error.code ?? ''] ?? malformed
  const body = JSON.stringify({ code, message })
  const headers = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`)
}
