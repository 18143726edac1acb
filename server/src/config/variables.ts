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
  DATABASE_URL_FILE: {
    default: 'none',
    means: 'a file that holds DATABASE_URL, such as a secret that an orchestrator mounts',
  },
  DATABASE_OWNER_URL: {
    default: 'none: the service does not migrate the database at start',
    means:
      'the same database as the owner role, which migrates its tables to this version and analyzes young ones; ' +
      '`npm run db:setup` prints it',
  },
  DATABASE_OWNER_URL_FILE: {
    default: 'none',
    means: 'a file that holds DATABASE_OWNER_URL, such as a secret that an orchestrator mounts',
  },
  SECRET_KEY: {
    default: '`secret.key` in `DATA_DIR`, made at the first start',
    means:
      'the root key, 32 bytes in base64 or hexadecimal; every process on one database needs the same; during a rotation ' +
      'several keys, the newest first, comma-separated; see docs/guides/keys.md',
  },
  SECRET_KEY_FILE: {
    default: 'none',
    means: 'a file that holds SECRET_KEY, such as a secret that an orchestrator mounts',
  },
  TRUST_PROXY: {
    default: 'none',
    means:
      'the proxies whose `X-Forwarded-For` and `X-Forwarded-Host` are trusted: addresses or networks, comma-separated; `true` trusts each ' +
      'sender in what it adds itself, for a service that only one proxy can reach',
  },
  RATE_LIMIT_PER_SECOND: {
    default: '`100`',
    means: 'the maximum number of requests per second from one credential to one process; `0`: no limit',
  },
  RATE_LIMIT_BURST: {
    default: '`1000`',
    means: 'how many requests it may send at once after a pause; the allowance refills at RATE_LIMIT_PER_SECOND',
  },
  TENANT_RATE_LIMIT_PER_SECOND: {
    default: '`500`',
    means: 'the maximum number of requests per second from all credentials of one tenant to one process; `0`: no limit',
  },
  TENANT_RATE_LIMIT_BURST: {
    default: '`5000`',
    means: 'how many they may send at once after a pause; the allowance refills at TENANT_RATE_LIMIT_PER_SECOND',
  },
  LIMIT_BY_SOURCE: {
    default: '`on`',
    means:
      'whether each address is limited in its invalid credentials and failed sign-ins; set `off` only if all callers ' +
      'unavoidably share one address',
  },
  DISCOVERIES_PER_MINUTE: {
    default: '`60`',
    means:
      'how many tenants one address may look up per minute by a slug or a mail domain, at one process; `0`: no limit; ' +
      '`LIMIT_BY_SOURCE=off` turns it off too',
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
  OIDC_CLIENT_SECRET_FILE: {
    default: 'none',
    means: 'a file that holds OIDC_CLIENT_SECRET, such as a secret that an orchestrator mounts',
  },
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
  SMTP_URL_FILE: { default: 'none', means: 'a file that holds SMTP_URL, such as a secret that an orchestrator mounts' },
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
  LOG_FORMAT: {
    default: '`text` on a terminal, else `json`',
    means: '`json`: one object a line, with tenant, actor and request id; `text`: for people',
  },
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
