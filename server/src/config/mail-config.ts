import { isIP } from 'node:net'
import { emailFault, readEmail } from '../kernel/email-address.ts'

/** The mail server of the installation. */
export type MailServer = {
  host: string
  port: number
  /** `implicit`: TLS from the first byte. `starttls`: TLS before any mail is sent, else nothing is sent. `never`: no TLS. */
  tls: 'implicit' | 'starttls' | 'never'
  login: { user: string; password: string } | undefined
  /** The maximum number of connections of one process. */
  connections: number
  /** The maximum number of mails that one process begins per second; 0: no limit. */
  per_second: number
}

type MailEnvironment = {
  readonly [Variable in 'SMTP_URL' | 'SMTP_TLS' | 'SMTP_CONNECTIONS' | 'SMTP_MESSAGES_PER_SECOND' | 'MAIL_FROM']?:
    | string
    | undefined
}

/** Reads the mail server; undefined when none is named. Throws an Error whose message never repeats SMTP_URL. */
export function readMailServer(env: MailEnvironment): MailServer | undefined {
  if (!env.SMTP_URL) {
    const stray = (['SMTP_TLS', 'SMTP_CONNECTIONS', 'SMTP_MESSAGES_PER_SECOND'] as const).find((name) => env[name])
    if (stray !== undefined) throw new Error(`${stray} is set without SMTP_URL; set both, or neither for no mail`)
    return undefined
  }
  const { host, port, implicit, login } = readSmtpUrl(env.SMTP_URL)
  const tls = readTls(env.SMTP_TLS, { host, implicit, login })
  const connections = readNumber('SMTP_CONNECTIONS', env.SMTP_CONNECTIONS || '5', 1, 50)
  const per_second = readNumber('SMTP_MESSAGES_PER_SECOND', env.SMTP_MESSAGES_PER_SECOND || '10', 0, 1_000)
  return { host, port, tls, login, connections, per_second }
}

/** The sender of the installation: MAIL_FROM, else `sallyport` at the host of PUBLIC_URL (at `localhost` for an IP address). */
export function readMailFrom(text: string | undefined, publicUrl: string): string {
  if (!text) {
    const { hostname } = new URL(publicUrl)
    return `sallyport@${isIP(bare(hostname)) === 0 ? hostname : 'localhost'}`
  }
  const address = readEmail(text)
  if (address === undefined) throw new Error(`MAIL_FROM is \`${text}\`; it ${emailFault}`)
  return address
}

const urlForm =
  'it must be like smtp://mail.example.com or smtps://user:password@mail.example.com:465, with user and password ' +
  'percent-encoded except for letters and digits'

type SmtpUrl = Pick<MailServer, 'host' | 'port' | 'login'> & { implicit: boolean }

function readSmtpUrl(text: string): SmtpUrl {
  if (!/^smtps?:\/\//.test(text)) throw new Error(`SMTP_URL must begin with smtp:// or smtps://: ${urlForm}`)
  const url = URL.parse(text)
  const host = bare(url?.hostname ?? '')
  if (url === null || !(isIP(host) !== 0 || /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(host)) || url.port === '0') {
    throw new Error(`SMTP_URL is not an address of a mail server: ${urlForm}`)
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new Error(`SMTP_URL contains more than a host, a port and a login: ${urlForm}`)
  }
  const implicit = url.protocol === 'smtps:'
  const port = url.port === '' ? (implicit ? 465 : 587) : Number(url.port)
  if (port === 465 && !implicit) {
    throw new Error('SMTP_URL names port 465, where TLS begins with the first byte; use smtps://')
  }
  return { host, port, implicit, login: readLogin(url) }
}

function readLogin({ username, password }: URL): MailServer['login'] {
  if (username === '' && password === '') return undefined
  if (username === '' || password === '') {
    throw new Error('SMTP_URL has a user without a password, or a password without a user; name both or neither')
  }
  const login = { user: decoded(username), password: decoded(password) }
  if (/\p{Cc}/u.test(login.user + login.password)) {
    throw new Error('SMTP_URL has a control character in its user or password; no mail server accepts one')
  }
  return login
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('SMTP_URL has a `%` in its user or password that encodes nothing; write `%25` for the sign itself')
  }
}

function readTls(
  text: string | undefined,
  { host, implicit, login }: { host: string; implicit: boolean; login: MailServer['login'] },
): MailServer['tls'] {
  if (text && text !== 'always' && text !== 'never') {
    throw new Error(`SMTP_TLS is \`${text}\`; it must be \`always\` or \`never\``)
  }
  if (implicit) {
    if (text === 'never') throw new Error('SMTP_TLS is `never`, and SMTP_URL begins with smtps://; use smtp:// instead')
    return 'implicit'
  }
  if (text === 'always' || (!text && !isThisMachine(host))) return 'starttls'
  if (login !== undefined && !isThisMachine(host)) {
    throw new Error(
      'SMTP_TLS is `never`, and the password in SMTP_URL would cross the network unencrypted; remove one of them',
    )
  }
  return 'never'
}

function isThisMachine(host: string): boolean {
  return host.toLowerCase() === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Removes the brackets around an IPv6 address in a URL. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function readNumber(name: string, text: string, min: number, max: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < min || Number(text) > max) {
    throw new Error(`${name} is \`${text}\`; it must be a number from ${min} to ${max}`)
  }
  return Number(text)
}
