/**
 * The context that every function of a slice receives: the tenant's database access, the actor, and the time.
 * Types only: the pipeline and the workers create the values, and the slices use them.
 */

declare const madeBySql: unique symbol

/**
 * One SQL statement with its bound values. `Row` is the type of its rows; the reply schemas and the tests verify it.
 * Only the tag `sql` makes one: the compiler refuses a text that was put together elsewhere.
 */
export type Statement<Row = unknown> = {
  readonly text: string
  readonly values: readonly unknown[]
  /**
   * Its rows have to be read in the order of an index, one by one, until there are enough: not collected and sorted. `of_partitions`: those of
   * several partitions have to be merged.
   */
  readonly in_index_order?: true | 'of_partitions'
  /** A read that has one good plan, whatever its values: it is planned once. Writes always are. */
  readonly planned_once?: true
  /** Never set: it tells a statement from any other object, and carries the row type. */
  readonly [madeBySql]: Row
}

/** The rows that each statement of a batch returns. */
export type RowsOf<Statements extends readonly Statement[]> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never
}

/**
 * Access to one tenant's rows. Each statement runs in a transaction with that tenant's isolation in force.
 * Inside `interactive` the same three functions run in the one open transaction.
 */
export type Tx = {
  readonly tenant_id: string
  /** One statement that changes nothing, in a transaction of its own. */
  read<Row>(statement: Statement<Row>): Promise<Row[]>
  /** Statements that succeed or fail together, in one batch. */
  write<const Statements extends readonly Statement[]>(statements: Statements): Promise<RowsOf<Statements>>
  /** A transaction that reads before it writes. A thrown error rolls it back. Calls made at once run in their order, in one round trip. */
  interactive<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

/** Who acts. An API key acts for the user who made it, with at most that user's rights. */
export type Actor = {
  kind: 'user' | 'api_key' | 'operator' | 'system'
  /** The human: the token's subject, or the maker of the key. Null for the operator and the service itself. */
  user_id: string | null
  api_key_id: string | null
  scopes: ReadonlySet<string>
}

/** The context of a worker: enough to change rows and to record the actor. */
export type WorkCtx = {
  tx: Tx
  actor: Actor
  /** The caller's request id, or the worker's own name: it links an event to the log. */
  request_id: string
}

/** Who signed in, the session of that sign-in, and when by the database's clock. */
export type SignInResult = { tenant_id: string; user_id: string; session_id: string; now: Date }

/** Issues the service's own tokens, and publishes the keys that verify them. */
export type Tokens = {
  /** `lifetime_seconds`: left out: that of every sign-in. */
  issue(signedIn: SignInResult, lifetime_seconds?: number): Promise<{ token: string; expires_at: string }>
  publicKeys(): Promise<Record<string, unknown>[]>
}

/** The one place, within a tenant, that a sealed text belongs to: moved to any other place, it cannot be unsealed. */
export type SealedPlace = { table: string; id: string; field: string }

/** Seals secrets at rest, each tenant's under its own data key, which is read through the tenant's `Tx`. */
export type Sealer = {
  seal(tx: Tx, text: string, place: SealedPlace): Promise<string>
  /**
   * Throws the same error for every cause if the text was not sealed by this installation for this tenant and place; throws
   * `unavailable` if the root key is not available.
   */
  unseal(tx: Tx, sealed: string, place: SealedPlace): Promise<string>
}

/** The input of a caller that finishes a sign-in by a provider. */
export type AuthorizationAnswer = {
  code: string
  redirect_uri: string
  /** The provider's issuer, as sent with the code (RFC 9207), if the caller passes it on. */
  iss: string | undefined
}

/** Where a call without a credential comes from. */
export type CallerOrigin = { source_ip: string; user_agent: string | undefined; request_id: string }

/** Sign-in by an OpenID Connect provider. The composition root creates it, because it reads across tenants and calls providers. */
export type ProviderSignIn = {
  /**
   * Returns the URL to which the user is sent. `max_age`: how old the sign-in at the provider may be, in seconds; null: any.
   * `browser`: the secret in the cookie of the calling browser; null if the caller is not a browser.
   */
  begin(options: {
    tenant_id: string
    redirect_uri: string
    max_age: number | null
    browser: string | null
  }): Promise<string>
  /** Why a tenant cannot use this issuer, as a half-sentence; undefined if it can. It asks the provider. */
  findIssuerFault(tenant_id: string, issuer: string): Promise<string | undefined>
  /**
   * Returns the user who signed in. `state`: of a sign-in that was begun here. `browsers`: the secrets in the cookies of the
   * calling browser; null if the caller is not a browser.
   * Throws `invalid_authorization_code` for every cause except a provider that does not answer.
   */
  finish(
    answer: AuthorizationAnswer & { state: string | undefined },
    from: CallerOrigin & { browsers: readonly string[] | null },
  ): Promise<SignInResult>
  /**
   * Ends the sessions that a provider's logout token names. `provider`: the id in the tenant's sign-in settings, or `global`.
   * Throws `invalid_input` for a token that is not valid.
   */
  obeyLogoutToken(sent: { provider: string; logout_token: string }, from: CallerOrigin): Promise<void>
  /** The address at which a user of the tenant signs out of a provider; undefined where there is none. */
  findLogoutUrl(tenant_id: string, provider: string): Promise<string | undefined>
}

/** How a caller may name a tenant whose id they do not know. `text` is folded: there is one spelling of each name. */
export type TenantName = { kind: 'domain' | 'slug'; text: string }

/** The tenant of a name, and whether its own provider signs its users in. */
export type FoundTenant = { tenant_id: string; has_provider: boolean }

/** Finds tenants for callers who know a name only. The composition root creates it, because it reads across tenants. */
export type Discovery = {
  /** A name that leads to no tenant, or to several, gets an id that is no tenant's and always the same. */
  find(name: TenantName): Promise<FoundTenant>
}

/** A call to an address outside. */
export type CallOptions = {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Ends the call. */
  signal: AbortSignal
  /** How long the answer may be; 1 MiB where absent. */
  maxAnswerBytes?: number
}

/** The one guarded egress, for addresses that a tenant configures. */
export type Egress = {
  /**
   * Why this address may not be called, as part of a sentence; undefined if it may. A host that cannot be resolved now is no
   * fault: it is resolved and checked again at each call.
   */
  findFault(url: string): Promise<string | undefined>
  /**
   * Calls the address and reads the whole answer: at most 1 MiB or what the options say, without following redirects, connected to
   * exactly the IP address that was checked.
   * @throws AnswerTooLong; Error if the address leads to an internal network; otherwise what the network throws
   */
  call(url: string, options: CallOptions): Promise<Response>
  /**
   * The addresses of a host, for callers with a protocol other than HTTP: connect to one of these addresses and to no other.
   * @throws Error if the host leads to an internal network
   */
  resolve(host: string): Promise<{ address: string; family: number }[]>
}

/** There may be a new notification. All transactions before this one are over, also where a reader's own look says less. */
export type Notified = { notified_to: string }

/**
 * What a subscription receives. `changed`: there are new events in the feed of its tenant. `quiet`: about once a second, while it
 * waits. `replaced`: the user opened too many other streams. `over`: the service stops.
 */
export type StreamSignal = Notified | 'changed' | 'quiet' | 'replaced' | 'over'

/** The subscription of one user. A signal that arrives between two calls of `next` resolves a later call. */
export type Subscription = { next(): Promise<StreamSignal>; close(): void }

/**
 * That a record changed. `id`: null where several records of the type may have. `owner`: the user whose record it is; null for a
 * record of the tenant. `scope`: what others need to read it.
 */
export type RecordChange = { type: string; id: string | null; owner: string | null; scope: string }

/** The records that one event changed. `mark` names the event for a client that resumes after it. */
export type RecordedChanges = { mark: string; changes: readonly RecordChange[] }

/**
 * The newest events of one tenant in the order of the commits, for all of its streams in this process. A position counts the
 * events before it.
 */
export type ChangeFeed = {
  end(): number
  /** The mark of the event before the end. */
  lastMark(): string
  /** The position after the event with this mark; undefined if it is unknown, or too long ago. */
  find(mark: string): Promise<number | undefined>
  /** The events from a position on; undefined if some of them are no longer kept. */
  after(position: number): readonly RecordedChanges[] | undefined
}

/** Signals the open streams of this process when there is something new for them. */
export type StreamHub = {
  /** For notifications. @throws Problem 503 if too many streams are open, or the service is stopping */
  subscribe(tenant_id: string, user_id: string): Subscription
  /** For notifications and for changes of the tenant's records. @throws Problem as `subscribe` */
  follow(tenant_id: string, user_id: string): Promise<Subscription & { feed: ChangeFeed }>
}

/** How the caller signed in, and when. `amr`: the means, as in RFC 8176. `in_live`: the tenant is live. */
export type SignInSession = { id: string; auth_time: Date; amr: readonly string[]; in_live: boolean }

/** The context of an operation. */
export type Ctx = WorkCtx & {
  /** The database's clock when the credential was checked. */
  now: Date
  via: 'token' | 'api_key'
  /** The session of a token or a cookie; null for an API key, and without a credential. */
  session: SignInSession | null
  /** Sets a cookie with the answer; the text is that of `Set-Cookie`. */
  setCookie(text: string): void
  /**
   * Drops what this process keeps of a tenant's credentials: for an operation of which few calls change what they prove. The others
   * declare it: `changes`.
   */
  dropAdmissions(tenant_id: string): void
  source_ip: string
  tokens: Tokens
  sealer: Sealer
  egress: Egress
  /** The address at which callers reach the service. */
  public_url: string
  /** Whether the operator has set up a mail server. */
  sends_mail: boolean
  providerSignIn: ProviderSignIn
  discovery: Discovery
  streams: StreamHub
}

/** The service itself, as an actor: deadlines and effects. */
export const systemActor: Actor = { kind: 'system', user_id: null, api_key_id: null, scopes: new Set() }

/** The operator on the server's own command line, next to the database. */
export const operatorActor: Actor = { kind: 'operator', user_id: null, api_key_id: null, scopes: new Set() }
