import { OpenRole } from './role-session.ts'

/** What the SDK threw, as far as one can tell. */
export type AwsFault = {
  /** The service's own word for it, such as `ConflictException`; for what the network threw, its name. */
  code: string
  /** One line for people: what was called, what was answered, and the request's id for AWS's support. */
  message: string
  /** Too many calls. */
  throttled: boolean
  /** The credentials are over, or were taken back. */
  credentials: boolean
  /** It may pass by itself. */
  passes: boolean
}

const maxMessageLength = 500

const throttles = /Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/i
const expiries = /ExpiredToken|RequestExpired|InvalidClientTokenId|UnrecognizedClient/

/** Answers that no repetition changes: the request itself, or a right, is at fault. */
const lasting =
  /^(?:AccessDenied|AccessDeniedException|ValidationException|ValidationError|InvalidInputException|ResourceNotFoundException|AccountNotFoundException|AWSOrganizationsNotInUseException|SignatureDoesNotMatch|InvalidParameter\w*|MalformedPolicyDocument\w*|RegionDisabledException|InvalidFilter\w*)$/

/** Reads whatever a call of the SDK threw. `operation` is the service's name of the call. */
export function readAwsFault(operation: string, error: unknown): AwsFault {
  if (error instanceof OpenRole) {
    return { code: error.name, message: error.message, throttled: false, credentials: false, passes: false }
  }
  const { name, message, $metadata } = error instanceof Error ? (error as SdkError) : { name: 'Error', message: '' }
  const id = $metadata?.requestId
  const answered = id !== undefined || $metadata?.httpStatusCode !== undefined
  const words = `${message}`.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxMessageLength)
  const said = answered
    ? `AWS answered ${name} to ${operation}: ${words}${id === undefined ? '' : ` (request ${id})`}`
    : `${operation} did not reach AWS: ${words || name}`
  const throttled = throttles.test(name)
  const credentials = expiries.test(name)
  return { code: name, message: said, throttled, credentials, passes: !lasting.test(name) }
}

type SdkError = Error & { $metadata?: { requestId?: string; httpStatusCode?: number } }
