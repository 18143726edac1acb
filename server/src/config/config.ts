import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { type MailServer, readMailFrom, readMailServer } from './mail-config.ts'

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
  /** 32 bytes in base64 or hex, or several keys, comma-separated; undefined: `secret.key` in `data_dir`. */
  secret_key: string | undefined
  log_level: string
  /** The address of the metrics; undefined: none are served. */
  metrics: { host: string; port: number } | undefined
  /** How long a service that is asked to stop still accepts new connections, in seconds. */
  stop_delay_seconds: number
  /** The proxies whose `X-Forwarded-For` is trusted. */
  trust_proxy: string[] | boolean
  /** The rate limit of one credential; undefined: no limit. */
  rate_limit: { per_second: number; burst: number } | undefined
  /** Whether callers are limited by their address. */
  limit_by_source: boolean
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

/**
 * The one table of all variables that the service reads, with default and meaning. The reference page is generated from it,
 * and no other variable can be read.
 */
export const variableTable = {
  DATA_DIR: { default: '`./data`', means: 'the folder of the embedded database, the root key and `bootstrap.json`' },
  HOST: { default: '`127.0.0.1`', means: 'the address to listen on; `0.0.0.0` or `::` for all addresses' },
  PORT: { default: '`8080`', means: 'the port to listen on' },
  PUBLIC_URL: {
    default: '`http://HOST:PORT`',
    means:
      'the public URL of the service, such as `https://sallyport.example.com`; it is also the issuer of its tokens',
  },
  DATABASE_URL: {
    default: 'the embedded database in `DATA_DIR`',
    means: 'a PostgreSQL of your own, as the service role; `npm run db:setup` prints the line',
  },
  DATABASE_OWNER_URL: {
    default: 'none: the service does not migrate the database at start',
    means:
      'the same database as the owner role, which migrates its tables to this version; `npm run db:setup` prints it',
  },
  SECRET_KEY: {
    default: '`secret.key` in `DATA_DIR`, made at the first start',
    means:
      'the root key, 32 bytes in base64 or hexadecimal; every process on one database needs the same; during a rotation ' +
      'several keys, the newest first, comma-separated; see docs/guides/keys.md',
  },
  TRUST_PROXY: {
    default: 'none',
    means:
      'the proxies whose `X-Forwarded-For` and `X-Forwarded-Host` are trusted: addresses or networks, comma-separated; `true` trusts every ' +
      'sender, for a service that only a proxy can reach',
  },
  RATE_LIMIT_PER_SECOND: {
    default: '`100`',
    means: 'the maximum number of requests per second from one credential to one process; `0`: no limit',
  },
  RATE_LIMIT_BURST: {
    default: '`1000`',
    means: 'how many requests it may send at once after a pause; the allowance refills at RATE_LIMIT_PER_SECOND',
  },
  LIMIT_BY_SOURCE: {
    default: '`on`',
    means:
      'whether each address is limited in its invalid credentials and failed sign-ins; set `off` only if all callers ' +
      'unavoidably share one address',
  },
  EGRESS_ALLOW: {
    default: 'none',
    means:
      'host names, addresses and networks (CIDR) inside your own network that tenants may use as destinations, for example ' +
      'for their sign-in provider, comma-separated; a host listed by name or by its own address may also use http',
  },
  OIDC_ISSUER: {
    default: 'none: sign-in needs a `state`',
    means: 'the issuer of the provider for sign-ins that begin elsewhere, for every tenant; see docs/guides/sign-in.md',
  },
  OIDC_CLIENT_ID: { default: 'none; needed with OIDC_ISSUER', means: 'the client id of the service at that provider' },
  OIDC_CLIENT_SECRET: { default: 'none; needed with OIDC_ISSUER', means: 'the secret of that client' },
  OIDC_REDIRECT_URIS: {
    default: 'none; needed with OIDC_ISSUER',
    means: 'the redirect URIs that such a sign-in may begin with, comma-separated, compared exactly',
  },
  OIDC_TENANT_CLAIM: {
    default:
      'none: the tenant to which the operator gave the mail domain of the user’s verified address, or the only tenant',
    means:
      "the claim of that provider's tokens that holds the tenant's id; a user with that claim becomes a user of that tenant",
  },
  SMTP_URL: {
    default: 'none: mail waits until there is one, and is dropped after three days',
    means:
      'the mail server, such as `smtp://user:password@mail.example.com` (port 587) or `smtps://…` (port 465), user and ' +
      'password percent-encoded; see docs/guides/mail.md',
  },
  SMTP_TLS: {
    default: '`always`, and `never` if SMTP_URL names this machine',
    means:
      'whether smtp:// requires STARTTLS before anything is sent; certificates are always verified, ' +
      'NODE_EXTRA_CA_CERTS names a file with authorities of your own; with `never` SMTP_URL may hold no password, except for this machine',
  },
  SMTP_CONNECTIONS: { default: '`5`', means: 'the maximum number of connections from one process to it, 1 to 50' },
  SMTP_MESSAGES_PER_SECOND: {
    default: '`10`',
    means: 'the maximum number of mails per second from one process, up to 1000; `0`: no limit',
  },
  MAIL_FROM: {
    default: '`sallyport@` and the host of PUBLIC_URL',
    means: 'the sender of mail, one address; a tenant may use its own after `npm run admin -- mail-domain add`',
  },
  LOG_LEVEL: { default: '`info`', means: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`' },
  METRICS_PORT: {
    default: 'none: no metrics are served',
    means: 'the port of `/metrics`, for Prometheus; every process needs its own; see docs/guides/metrics.md',
  },
  METRICS_HOST: {
    default: '`127.0.0.1`',
    means: 'the address of `/metrics`; it needs no credential, and shows figures, no names and no content',
  },
  STOP_DELAY_SECONDS: {
    default: '`0`',
    means:
      'how long `/readyz` answers 503 before a stop closes the port, 0 to 300: a little longer than a load balancer needs to notice',
  },
} as const satisfies Record<string, { default: string; means: string }>

/** The environment variables that are read. */
export type Environment = { readonly [Variable in keyof typeof variableTable]?: string | undefined }

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the environment. Throws an Error that names the variable and its valid values. */
export function readConfig(env: Environment = process.env): Config {
  const host = env.HOST || '127.0.0.1'
  const port = readPort('PORT', env.PORT || '8080')
  const log_level = env.LOG_LEVEL || 'info'
  if (!logLevels.includes(log_level)) {
    throw new Error(`LOG_LEVEL is \`${log_level}\`; it must be one of ${logLevels.join(', ')}`)
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
    secret_key: env.SECRET_KEY || undefined,
    log_level,
    metrics: readMetrics(env),
    stop_delay_seconds: readStopDelay(env.STOP_DELAY_SECONDS || '0'),
    trust_proxy: readTrustProxy(env.TRUST_PROXY || ''),
    rate_limit: readRateLimit(env),
    limit_by_source: readSwitch('LIMIT_BY_SOURCE', env.LIMIT_BY_SOURCE || 'on'),
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

function readRateLimit(env: Environment): Config['rate_limit'] {
  const per_second = readCount('RATE_LIMIT_PER_SECOND', env.RATE_LIMIT_PER_SECOND || '100', 0)
  const burst = readCount('RATE_LIMIT_BURST', env.RATE_LIMIT_BURST || '1000', 1)
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

/** Empty: trusts none. `true` trusts every sender and is for a service that only a proxy can reach. */
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
