import { sanitizeText } from '../../../kernel/foreign-text.ts'
import { TargetError } from '../../../provisioners/driver.ts'
import type { Result } from './read-message.ts'
import { TooMuch } from './wire.ts'

/**
 * Where an operation was, for the messages. `server`: its host and port. `password`: is in no message, also
 * where the server repeats it. `base`: the field and the DN that were searched.
 */
export type Place = { server: string; password: string; base?: string }

/** The server refused an operation. */
export class Refused extends Error {
  readonly result: Result

  constructor(result: Result) {
    super(result.diagnostic)
    this.result = result
  }
}

/** Why a server refused, by its result code (RFC 4511, appendix A), and how to fix it. The kind is permanent unless it is `transient`. */
const refusals: Readonly<Record<number, { why: string; kind?: 'transient' }>> = {
  1: { why: 'failed, or wants a sign-in that it did not accept: check `bind_dn` and `bind_password`' },
  2: { why: 'does not know the request: for StartTLS, leave `start_tls` out and use port 636' },
  3: { why: 'reached its time limit: raise the limit for `bind_dn`, or lower `page_size`', kind: 'transient' },
  4: { why: 'reached its size limit, so people would be missing: raise the limit for `bind_dn`, or lower `page_size`' },
  8: { why: 'demands TLS: use port 636, or `start_tls` with port 389' },
  10: { why: 'refers to another server, which is not followed: set `host` to the server that has the people' },
  11: { why: 'reached a limit for searches: raise the limit for `bind_dn`, or lower `page_size`' },
  12: { why: 'cannot send its results in pages (RFC 2696), so people could be missing: turn paged results on' },
  13: { why: 'demands TLS: use port 636, or `start_tls` with port 389' },
  32: { why: 'has no such base, or does not let `bind_dn` see it: check the base and the rights of `bind_dn`' },
  34: { why: 'does not take a DN: check `bind_dn` and the bases' },
  48: { why: 'does not let `bind_dn` sign in with a password' },
  49: { why: 'did not accept the sign-in: check `bind_dn` and `bind_password`' },
  50: { why: 'does not let `bind_dn` read: give it the right to search and read below the base' },
  51: { why: 'is busy', kind: 'transient' },
  52: { why: 'is not available', kind: 'transient' },
  53: { why: 'is not willing to do this: check its limits, and the rights of `bind_dn`' },
}

/** What Active Directory means by the code in its text of a refused sign-in. */
const activeDirectoryReasons: Readonly<Record<string, string>> = {
  '525': 'there is no such account',
  '52e': 'the password is wrong',
  '530': 'the account may not sign in at this time',
  '532': 'the password has expired',
  '533': 'the account is disabled',
  '701': 'the account has expired',
  '773': 'the password must be changed first',
  '775': 'the account is locked',
}

/** What is wrong with a certificate, by the code of the error of Node or OpenSSL. */
function findCertificateFault(code: string): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'shows a certificate for another host: set `host` to a name in the certificate'
  }
  if (code === 'CERT_HAS_EXPIRED') return 'shows a certificate that has expired: renew it'
  if (code === 'CERT_NOT_YET_VALID') return 'shows a certificate that is not valid yet: check its clock'
  if (/SELF_SIGNED|UNABLE_TO_|^CERT_/.test(code)) {
    return 'shows a certificate of an unknown authority: set `ca_certificate` to the certificate of the authority'
  }
  if (/^ERR_SSL_|^EPROTO$/.test(code)) {
    return 'does not speak TLS here: use port 636, or `start_tls` with port 389'
  }
  return undefined
}

/** Any error of an operation, as what an administrator can act on. */
export function asDirectoryError(error: unknown, place: Place): TargetError {
  if (error instanceof TargetError) return error
  if (error instanceof Refused) return asRefusal(error.result, place)
  if (error instanceof TooMuch) {
    return new TargetError('permanent', `${place.server} sent too much for one page: lower \`page_size\``)
  }
  const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) }
  const ofCertificate = findCertificateFault(code ?? '')
  if (ofCertificate !== undefined) {
    return new TargetError('permanent', `${place.server} ${ofCertificate} (${lineOf(message, place)})`)
  }
  return new TargetError(
    'transient',
    `${place.server} cannot be read: ${lineOf(message, place) || 'it does not answer'}; check \`host\`, \`port\` and \`start_tls\``,
  )
}

function asRefusal({ code, diagnostic }: Result, place: Place): TargetError {
  const { server, base } = place
  const { why, kind = 'permanent' } = refusals[code] ?? { why: `refused with the result code ${code}` }
  const reason = code === 49 ? activeDirectoryReasons[/ data (\w{3}),/.exec(diagnostic)?.[1] ?? ''] : undefined
  const said = [reason, lineOf(diagnostic, place)].filter((part) => part !== undefined && part !== '').join('; ')
  const who = base === undefined ? server : `${server}, searched at ${base},`
  return new TargetError(kind, `${who} ${why}${said === '' ? '' : ` (it says: ${said})`}`)
}

function lineOf(text: string, { password }: Place): string {
  return sanitizeText(text, [password]) ?? ''
}
