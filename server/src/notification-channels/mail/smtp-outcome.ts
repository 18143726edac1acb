import { saidWords } from '../../kernel/said-words.ts'
import type { Outcome } from '../carrier.ts'

/** What went wrong with one mail, as the mail library tells it. */
export type SmtpFault = {
  /** Its own word for the kind of fault. */
  code?: string | undefined
  /** The system's or the TLS library's, where it began there. */
  originalCode?: string | undefined
  /** The command that was answered. */
  command?: string | undefined
  responseCode?: number | undefined
  /** All that the server answered. */
  response?: string | undefined
}

/**
 * What an attempt that failed means, as among mail servers: only what a server says of this recipient (5xx to RCPT) or of
 * this mail (5xx to the text) is final. All else is the trouble of the server, or of how it is set up here: it passes, or
 * somebody mends it, and nothing was lost. `hide`: texts that may not be kept.
 */
export function outcomeOf(fault: SmtpFault, hide: readonly string[]): Outcome {
  const said = saidWords(fault.response, hide)
  const final = finalWords(fault)
  if (final !== undefined) return { kind: 'refused', why: said === null ? final : `${final}: ${said}` }
  const words = passingWords(fault)
  return { kind: 'try_again', why: said === null ? words : `${words}: ${said}`, holds_up: 'all' }
}

/** A session in the wrong state, or one that should log in: no word about whom or what it was to take. */
const aboutTheSession = new Set([503, 530, 534, 535, 538])

function finalWords({ code, command, responseCode = 0, response = '' }: SmtpFault): string | undefined {
  // Written by nobody: the library could not put the address in words.
  if (code === 'EENVELOPE' && command === 'API') return 'this address cannot be written to'
  // Longer than the server takes: it says so beforehand, or when it is told the size.
  if (command === 'MAIL FROM' && (code === 'EMESSAGE' || responseCode === 552)) {
    return 'the mail server takes no mail of this size'
  }
  if (responseCode < 500 || responseCode > 599 || aboutTheSession.has(responseCode)) return undefined
  if (command === 'RCPT TO') {
    // `5.7.x`: for policy's sake. Mostly it is us whom it does not take mail from ("relay access denied").
    return /^5\d\d[ -]5\.7\./.test(response) ? undefined : 'the mail server refused the recipient'
  }
  return command === 'DATA' ? 'the mail server refused the mail' : undefined
}

function passingWords({ code = '', originalCode, command = '', responseCode = 0 }: SmtpFault): string {
  const detail = originalCode ?? code
  if (isCertificateFault(detail)) return `the certificate of the mail server is not to be trusted (${detail})`
  if (code === 'ETLS' || /^ERR_SSL_|^EPROTO$/.test(detail)) {
    return 'the mail server made no safe connection, and nothing is sent over another'
  }
  if (code === 'EAUTH') return 'the mail server did not let us log in'
  if (code === 'ETIMEDOUT' || code === 'EABORT') return 'the mail server did not answer in time'
  if (responseCode === 530) return 'the mail server wants a login, or TLS, before it takes mail'
  if (command === 'RCPT TO') return 'the mail server does not take the recipient now'
  if (command === 'MAIL FROM') return 'the mail server does not take mail from this sender now'
  if (command === 'DATA') return 'the mail server does not take the mail now'
  if (responseCode > 0) return 'the mail server does not serve us now'
  if (code === 'ECONNECTION') return 'the mail server closed the connection'
  return `the mail server cannot be reached (${detail || 'for no known reason'})`
}

/** As OpenSSL and Node name what is wrong with a certificate. */
function isCertificateFault(code: string): boolean {
  return /^(?:CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/.test(code)
}
