import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AwsError, type Caller, type ServiceName, takesForms } from './wire.ts'

/** A key that signs calls; a session's key has its token and its end, in milliseconds since 1970. */
export type Key = { id: string; secret: string; caller: Caller; session?: { token: string; ends_at: number } }

/** The maximum difference of a caller's clock, in milliseconds. */
const skewMs = 5 * 60_000

type Claim = { keyId: string; day: string; region: string; service: string; signed: string[]; signature: string }

/**
 * The caller who signed a request, and its region. Verifies Signature Version 4 over the received bytes.
 * @param wanted the service, and its region; null: any region
 * @throws AwsError with the called service's own error names
 */
export function verifySignature(
  request: IncomingMessage,
  body: Buffer,
  wanted: { service: ServiceName; region: string | null },
  keys: ReadonlyMap<string, Key>,
): { caller: Caller; region: string } {
  const say = takesForms(wanted.service) ? ofQuery : ofJson
  const claim = readClaim(request, say)
  const key = keys.get(claim.keyId)
  if (key === undefined) throw say('unknown', 'The security token included in the request is invalid.')
  if (claim.service !== wanted.service)
    throw say('signature', `Credential should be scoped to correct service: '${wanted.service}'.`)
  if (wanted.region !== null && claim.region !== wanted.region)
    throw say('signature', `Credential should be scoped to a valid region, not '${claim.region}'.`)
  const date = String(request.headers['x-amz-date'])
  checkDate(date, claim.day, say)
  checkHeaders(request, claim, say)
  if (!signsThis(request, body, claim, date, key.secret))
    throw say(
      'signature',
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
    )
  checkSession(request, key, say)
  return { caller: key.caller, region: claim.region }
}

type Refusal = 'missing' | 'incomplete' | 'unknown' | 'signature' | 'expired'
type Say = (refusal: Refusal, message: string) => AwsError

const jsonNames: Readonly<Record<Refusal, string>> = {
  missing: 'MissingAuthenticationTokenException',
  incomplete: 'IncompleteSignatureException',
  unknown: 'UnrecognizedClientException',
  signature: 'InvalidSignatureException',
  expired: 'ExpiredTokenException',
}
const queryNames: Readonly<Record<Refusal, string>> = {
  missing: 'MissingAuthenticationToken',
  incomplete: 'IncompleteSignature',
  unknown: 'InvalidClientTokenId',
  signature: 'SignatureDoesNotMatch',
  expired: 'ExpiredToken',
}
const ofJson: Say = (refusal, message) => new AwsError(jsonNames[refusal], message)
const ofQuery: Say = (refusal, message) => new AwsError(queryNames[refusal], message, { status: 403 })

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/

function readClaim(request: IncomingMessage, say: Say): Claim {
  const header = request.headers.authorization
  if (header === undefined) throw say('missing', 'Missing Authentication Token')
  const found = authorization.exec(header)
  if (found === null) throw say('incomplete', 'the Authorization header is not one of Signature Version 4')
  const [, keyId = '', day = '', region = '', service = '', signed = '', signature = ''] = found
  return { keyId, day, region, service, signed: signed.split(';'), signature }
}

function checkDate(date: string, day: string, say: Say): void {
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
  const at = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`)
  if (Number.isNaN(at)) throw say('incomplete', 'X-Amz-Date is not a date')
  if (!date.startsWith(day)) throw say('signature', 'the date in Credential is another than that of X-Amz-Date')
  if (Math.abs(Date.now() - at) > skewMs) throw say('signature', `Signature expired: ${date} is now too far away`)
}

/** Host and every `x-amz-*` must be signed, and every signed header must be present. */
function checkHeaders(request: IncomingMessage, { signed }: Claim, say: Say): void {
  const needed = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  const bare = needed.find((name) => !signed.includes(name))
  if (bare !== undefined) throw say('signature', `'${bare}' must be a 'SignedHeader' in the AWS Authorization`)
  const absent = signed.find((name) => request.headers[name] === undefined)
  if (absent !== undefined) throw say('signature', `'${absent}' is signed and was not sent`)
}

function signsThis(request: IncomingMessage, body: Buffer, claim: Claim, date: string, secret: string): boolean {
  const { day, region, service, signed, signature } = claim
  const headers = signed.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}\n`).join('')
  const canonical = [request.method, '/', '', headers, signed.join(';'), sha256(body)].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`)
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))
}

function checkSession(request: IncomingMessage, { session }: Key, say: Say): void {
  if (request.headers['x-amz-security-token'] !== session?.token)
    throw say('unknown', 'The security token included in the request is invalid.')
  if (session !== undefined && session.ends_at <= Date.now())
    throw say('expired', 'The security token included in the request is expired')
}

const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: Buffer | string, data: string): Buffer => createHmac('sha256', key).update(data).digest()
