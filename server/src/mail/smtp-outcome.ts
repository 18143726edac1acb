import { sanitizeText } from '../kernel/foreign-text.ts'
import type { SendOutcome } from '../kernel/send-outcome.ts'

/** The failure of one mail, as the mail library reports it. */
export type SmtpFault = {
  /** The library's error code. */
  code?: string | undefined
  /** The error code of the system or the TLS library, when the failure came from there. */
  originalCode?: string | undefined
  /** The SMTP command that failed. */
  command?: string | undefined
  responseCode?: number | undefined
  /** The server's whole answer. */
  response?: string | undefined
}

/**
 * The outcome of a failed attempt, by the rules of SMTP. Only a refusal of this recipient (5xx to RCPT) or of this mail (5xx to
 * DATA) is final. Every other failure is a problem of the server or of its configuration: it passes or is fixed, and no mail
 * is lost. `hide`: texts that must not be stored.
 */
export function outcomeOf(fault: SmtpFault, hide: readonly string[]): SendOutcome {
  const text = sanitizeText(fault.response, hide)
  const final = finalReason(fault)
  if (final !== undefined) return { kind: 'refused', why: text === null ? final : `${final}: ${text}` }
  const reason = temporaryReason(fault)
  return { kind: 'try_again', why: text === null ? reason : `${reason}: ${text}`, holds_up: 'all' }
}

/** Codes for a session in the wrong state, or one that must log in: they say nothing about the recipient or the mail. */
const aboutTheSession = new Set([503, 530, 534, 535, 538])

function finalReason({ code, command, responseCode = 0, response = '' }: SmtpFault): string | undefined {
  // The library itself refused: it could not encode the address.
  if (code === 'EENVELOPE' && command === 'API') return 'this address cannot be written to'
  // Larger than the server accepts: it announces its limit, or refuses the size.
  if (command === 'MAIL FROM' && (code === 'EMESSAGE' || responseCode === 552)) {
    return 'the mail server does not accept a mail of this size'
  }
  if (responseCode < 500 || responseCode > 599 || aboutTheSession.has(responseCode)) return undefined
  if (command === 'RCPT TO') {
    // `5.7.x`: a policy. Usually the server refuses this sender ("relay access denied").
    return /^5\d\d[ -]5\.7\./.test(response) ? undefined : 'the mail server refused the recipient'
  }
  return command === 'DATA' ? 'the mail server refused the mail' : undefined
}

function temporaryReason({ code = '', originalCode, command = '', responseCode = 0 }: SmtpFault): string {
  const detail = originalCode ?? code
  if (isCertificateFault(detail)) return `the certificate of the mail server is not trusted (${detail})`
  if (code === 'ETLS' || /^ERR_SSL_|^EPROTO$/.test(detail)) {
    return 'the mail server did not set up TLS, and mail is not sent without it'
  }
  if (code === 'EAUTH') return 'the mail server refused the login'
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'the mail server did not answer in time'
  if (responseCode === 530) return 'the mail server requires a login, or TLS, before it accepts mail'
  if (command === 'RCPT TO') return 'the mail server does not accept the recipient now'
  if (command === 'MAIL FROM') return 'the mail server does not accept mail from this sender now'
  if (command === 'DATA') return 'the mail server does not accept the mail now'
  if (responseCode > 0) return 'the mail server is not available now'
  if (code === 'ECONNECTION') return 'the mail server closed the connection'
  return `the mail server cannot be reached (${detail || 'unknown reason'})`
}

/** The codes of OpenSSL and Node for a faulty certificate. */
function isCertificateFault(code: string): boolean {
  return /^(?:CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/.test(code)
}
