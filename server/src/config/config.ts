import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type MailServer, readMailFrom, readMailServer } from './mail-config.ts'
import { withSecretFiles } from './secret-files.ts'
import type { Environment } from './variables.ts'

/** So many requests a second, and so many at once after a pause. */
type RateLimit = { per_second: number; burst: number }

/** The configuration from the environment, read once. */
export type Config = {
  /** The service role on a PostgreSQL of your own; undefined: the embedded one in `data_dir`. */
  database_url: string | undefined
  /** The owner role, for migrations; undefined: the operator migrates the database separately. */
  database_owner_url: string | undefined
  data_dir: string
  host: string
  port: number
  /** The public URL of this service, also used in tokens, without a slash at its end. */
  public_url: string
  /** Whether no variable says anything of it. */
  is_usual_url: boolean
  /** 32 bytes in base64 or hex, or several keys, comma-separated; undefined: `secret.key` in `data_dir`. */
  secret_key: string | undefined
  log_level: string
  /** Undefined: `text` on a terminal, else `json`. */
  log_format: 'json' | 'text' | undefined
  /** The address of the metrics; undefined: none are served. */
  metrics: { host: string; port: number } | undefined
  /** How long a service that is asked to stop still accepts new connections, in seconds. */
  stop_delay_seconds: number
  /** The proxies whose `X-Forwarded-For` is trusted. */
  trust_proxy: string[] | boolean
  /** The rate limit of one credential; undefined: no limit. */
  rate_limit: RateLimit | undefined
  /** Of all credentials of a tenant together. */
  tenant_rate_limit: RateLimit | undefined
  /** Whether callers are limited by their address. */
  limit_by_source: boolean
  /** How many tenants an address may look up by a name; 0: no limit. */
  discoveries_per_minute: number
  /** The destinations inside the operator's networks that tenants may use; `readEgressAllow` reads the text. */
  egress_allow: string
  /** The provider of sign-ins that begin elsewhere; undefined: none. */
  oidc: GlobalOidc | undefined
  /** Undefined: mail waits. */
  mail_server: MailServer | undefined
  /** The sender of mail, for tenants that may not send from their own address. */
  mail_from: string
}

/** The global OpenID Connect provider. The service is a confidential client of it. */
export type GlobalOidc = {
  issuer: string
  client_id: string
  client_secret: string
  redirect_uris: string[]
  /** The claim that names the tenant by its id. */
  tenant_claim: string | undefined
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the environment. Throws an Error that names the variable and its valid values. */
export function readConfig(given: Environment = process.env): Config {
  const env = withSecretFiles(given)
  const host = env.HOST || '127.0.0.1'
  const port = readPort('PORT', env.PORT || '8080')
  const log_level = env.LOG_LEVEL || 'info'
  if (!logLevels.includes(log_level)) {
    throw new Error(`LOG_LEVEL is \`${log_level}\`; it must be one of ${logLevels.join(', ')}`)
  }
  const log_format = env.LOG_FORMAT || undefined
  if (log_format !== undefined && log_format !== 'json' && log_format !== 'text') {
    throw new Error(`LOG_FORMAT is \`${log_format}\`; it must be \`json\` or \`text\``)
  }
  if (env.DATABASE_OWNER_URL && !env.DATABASE_URL) {
    throw new Error('DATABASE_OWNER_URL is set without DATABASE_URL; set both, or neither for the embedded database')
  }
  const public_url = readPublicUrl(env.PUBLIC_URL || `http://${host.includes(':') ? `[${host}]` : host}:${port}`)
  return {
    database_url: readPostgresUrl('DATABASE_URL', env.DATABASE_URL),
    database_owner_url: readPostgresUrl('DATABASE_OWNER_URL', env.DATABASE_OWNER_URL),
    data_dir: resolve(env.DATA_DIR || 'data'),
    host,
    port,
    public_url,
    is_usual_url: !(env.PUBLIC_URL || env.HOST || env.PORT),
    secret_key: env.SECRET_KEY || undefined,
    log_level,
    log_format,
    metrics: readMetrics(env),
    stop_delay_seconds: readStopDelay(env.STOP_DELAY_SECONDS || '0'),
    trust_proxy: readTrustProxy(env.TRUST_PROXY || ''),
    rate_limit: readRateLimit(env, '', { per_second: 100, burst: 1_000 }),
    tenant_rate_limit: readRateLimit(env, 'TENANT_', { per_second: 500, burst: 5_000 }),
    limit_by_source: readSwitch('LIMIT_BY_SOURCE', env.LIMIT_BY_SOURCE || 'on'),
    discoveries_per_minute: readCount('DISCOVERIES_PER_MINUTE', env.DISCOVERIES_PER_MINUTE || '60', 0),
    egress_allow: env.EGRESS_ALLOW || '',
    oidc: readGlobalOidc(env),
    mail_server: readMailServer(env),
    mail_from: readMailFrom(env.MAIL_FROM, public_url),
  }
}

const oidcNeeds = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_REDIRECT_URIS'] as const

/** Requires all of the variables or none. */
function readGlobalOidc(env: Environment): GlobalOidc | undefined {
  const given = [...oidcNeeds, 'OIDC_TENANT_CLAIM' as const].find((name) => env[name])
  if (given === undefined) return undefined
  const missing = oidcNeeds.find((name) => !env[name])
  if (missing !== undefined) throw new Error(`${given} is set without ${missing}; set ${oidcNeeds.join(', ')} or none`)
  const { OIDC_ISSUER = '', OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET = '', OIDC_REDIRECT_URIS = '' } = env
  const redirect_uris = OIDC_REDIRECT_URIS.split(',').map((address) => address.trim())
  return {
    issuer: readHttpAddress('OIDC_ISSUER', OIDC_ISSUER),
    client_id: OIDC_CLIENT_ID,
    client_secret: OIDC_CLIENT_SECRET,
    redirect_uris: redirect_uris.map((address) => readHttpAddress('OIDC_REDIRECT_URIS', address)),
    tenant_claim: env.OIDC_TENANT_CLAIM || undefined,
  }
}

function readPort(name: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 65_535) {
    throw new Error(`${name} is \`${text}\`; it must be a number from 1 to 65535`)
  }
  return Number(text)
}

function readMetrics({ METRICS_PORT, METRICS_HOST }: Environment): Config['metrics'] {
  if (!METRICS_PORT) {
    if (METRICS_HOST) throw new Error('METRICS_HOST is set without METRICS_PORT; set both, or neither for no metrics')
    return undefined
  }
  return { host: METRICS_HOST || '127.0.0.1', port: readPort('METRICS_PORT', METRICS_PORT) }
}

function readRateLimit(env: Environment, prefix: '' | 'TENANT_', usual: RateLimit): RateLimit | undefined {
  const read = (name: keyof Environment, otherwise: number, min: number) =>
    readCount(name, env[name] || `${otherwise}`, min)
  const per_second = read(`${prefix}RATE_LIMIT_PER_SECOND`, usual.per_second, 0)
  const burst = read(`${prefix}RATE_LIMIT_BURST`, usual.burst, 1)
  return per_second === 0 ? undefined : { per_second, burst }
}

function readCount(name: string, text: string, min: number): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < min) {
    throw new Error(`${name} is \`${text}\`; it must be a number from ${min} to 999999`)
  }
  return Number(text)
}

function readSwitch(name: string, text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new Error(`${name} is \`${text}\`; it must be \`on\` or \`off\``)
  return text === 'on'
}

function readStopDelay(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 300) {
    throw new Error(`STOP_DELAY_SECONDS is \`${text}\`; it must be a number from 0 to 300`)
  }
  return Number(text)
}

function readPostgresUrl(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  // The message does not repeat the text, which may hold a password.
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new Error(`${name} must begin with postgres://; \`npm run db:setup\` prints the line to use`)
  }
  return text
}

function readPublicUrl(text: string): string {
  return readHttpAddress('PUBLIC_URL', text).replace(/\/+$/, '')
}

function readHttpAddress(name: string, text: string): string {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${name} is \`${text}\`; it must be an http or https address`)
  }
  return text
}

/** Empty: trusts none. `true` trusts each sender, in what it adds itself: for a service that only one proxy can reach. */
function readTrustProxy(text: string): string[] | boolean {
  if (text === '' || text === 'false') return false
  if (text === 'true') return true
  return text.split(',').map((part) => {
    const network = part.trim()
    const [address = '', bits, ...more] = network.split('/')
    const maxBits = isIP(address) === 6 ? 128 : 32
    const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)
    if (isIP(address) !== 0 && isNetwork && more.length === 0) return network
    throw new Error(
      `TRUST_PROXY holds \`${network}\`; name addresses or networks such as 10.0.0.0/8, comma-separated, or \`true\``,
    )
  })
}
