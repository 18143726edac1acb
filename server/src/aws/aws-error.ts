import { OpenRole } from './role-session.ts'

/** An error of the SDK, classified. */
export type AwsFault = {
  /** The service's error code, such as `ConflictException`; for a network error, its name. */
  code: string
  /** One line for people: the call, the answer, and the request's id for AWS support. */
  message: string
  /** Too many calls. */
  throttled: boolean
  /** The credentials have expired, or were revoked. */
  credentials: boolean
  /** Temporary: a retry may succeed. */
  passes: boolean
}

const maxMessageLength = 500

const throttles = /Throttl|TooManyRequests|RequestLimitExceeded|SlowDown/i
const expiries = /ExpiredToken|RequestExpired|InvalidClientTokenId|UnrecognizedClient/

/** Permanent errors: the request is wrong, or a permission is missing, so a retry cannot succeed. */
const lasting =
  /^(?:AccessDenied|AccessDeniedException|ValidationException|ValidationError|InvalidInputException|ResourceNotFoundException|AccountNotFoundException|AWSOrganizationsNotInUseException|SignatureDoesNotMatch|InvalidParameter\w*|MalformedPolicyDocument\w*|RegionDisabledException|InvalidFilter\w*)$/

/** Classifies an error thrown by an SDK call. `operation` is the service's name of the call. */
export function readAwsFault(operation: string, error: unknown): AwsFault {
  if (error instanceof OpenRole) {
    return { code: error.name, message: error.message, throttled: false, credentials: false, passes: false }
  }
  const { name, message, $metadata } = error instanceof Error ? (error as SdkError) : { name: 'Error', message: '' }
  const id = $metadata?.requestId
  const answered = id !== undefined || $metadata?.httpStatusCode !== undefined
  const detail = `${message}`.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, maxMessageLength)
  const text = answered
    ? `AWS answered ${name} to ${operation}: ${detail}${id === undefined ? '' : ` (request ${id})`}`
    : `${operation} did not reach AWS: ${detail || name}`
  const throttled = throttles.test(name)
  const credentials = expiries.test(name)
  return { code: name, message: text, throttled, credentials, passes: !lasting.test(name) }
}

type SdkError = Error & { $metadata?: { requestId?: string; httpStatusCode?: number } }
