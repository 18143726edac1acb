/**
 * What every function of a slice is handed: the tenant's door to the database, who acts, and when.
 * Types alone: the pipeline and the workers make them, the slices use them.
 */

/** One SQL statement with its bound values. `Row` is the shape it answers, held true by the reply schemas and the tests. */
export type Statement<Row = unknown> = {
  readonly text: string
  readonly values: readonly unknown[]
  /** Never set: carries the row type. */
  readonly row?: Row
}

/** The rows that each statement of a batch answers. */
export type RowsOf<Statements extends readonly Statement[]> = {
  [Index in keyof Statements]: Statements[Index] extends Statement<infer Row> ? Row[] : never
}

/**
 * The door to one tenant's rows. Whatever passes it runs in a transaction with that tenant's walls up.
 * Inside `interactive` the same three functions run in the one open transaction.
 */
export type Tx = {
  readonly tenant_id: string
  /** One statement that changes nothing, in a transaction of its own. */
  read<Row>(statement: Statement<Row>): Promise<Row[]>
  /** Statements that succeed or fail together, with no question in between. */
  write<const Statements extends readonly Statement[]>(statements: Statements): Promise<RowsOf<Statements>>
  /** A transaction that asks before it writes. A thrown error rolls it back. */
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

/** What a worker hands on: enough to change rows and to say who did. */
export type WorkCtx = {
  tx: Tx
  actor: Actor
  /** The caller's request id, or the worker's own name: it leads from an event to the log. */
  request_id: string
}

/** Makes the service's own tokens, and publishes the keys that prove them. */
export type Tokens = {
  issue(subject: { tenant_id: string; user_id: string; now: Date }): Promise<{ token: string; expires_at: string }>
  publicKeys(): Promise<Record<string, unknown>[]>
}

/** The one place, within a tenant, that a sealed text belongs to: moved to any other it stays shut. */
export type SealedPlace = { table: string; id: string; field: string }

/** Keeps secrets shut at rest, each tenant's under a key of its own, which is read through the tenant's door. */
export type Sealer = {
  seal(tx: Tx, text: string, place: SealedPlace): Promise<string>
  /**
   * Throws, the same for every cause, where the text was not sealed by this installation for this tenant and place;
   * `unavailable` where the root key is not at hand.
   */
  unseal(tx: Tx, sealed: string, place: SealedPlace): Promise<string>
}

/** What a caller brings to finish a sign-in by a provider. */
export type AuthorizationAnswer = {
  code: string
  redirect_uri: string
  /** The provider as it named itself beside the code (RFC 9207), where the caller passes it on. */
  iss: string | undefined
}

/** Sign-in by an OpenID Connect provider; made by the composition root, since it looks across tenants and calls providers. */
export type ProviderSignIn = {
  /**
   * Answers where to send the person who signs in. `browser`: the secret in the cookie of the browser that asks; null where
   * no browser does.
   */
  begin(asked: { tenant_id: string; redirect_uri: string; browser: string | null }): Promise<string>
  /**
   * Answers who has signed in. `state`: of a sign-in that was begun here. `browsers`: the secrets in the cookies of the
   * browser that answers; null where none does.
   * Throws `invalid_authorization_code` for every cause but a provider that does not answer.
   */
  finish(
    answer: AuthorizationAnswer & { state: string | undefined },
    from: { browsers: readonly string[] | null; source_ip: string; request_id: string },
  ): Promise<{ tenant_id: string; user_id: string; now: Date }>
}

/** A call to an address outside. */
export type CallOptions = {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Ends the call; the caller says when. */
  signal: AbortSignal
}

/** The one guarded way out, for addresses that a tenant configures. */
export type Egress = {
  /**
   * Why this address may not be called, in a half-sentence; undefined when it may. A host that cannot be found just now
   * is no fault: what it leads to is looked at again at each call.
   */
  findFault(url: string): Promise<string | undefined>
  /**
   * Calls the address and reads all of the answer: at most 1 MiB, redirects not followed, connected to the very address
   * that was looked at.
   * @throws Error where the address leads inside the house or the answer is too long; what the network throws otherwise
   */
  call(url: string, options: CallOptions): Promise<Response>
  /**
   * Where a host is, for whoever speaks another protocol than HTTP: connect to one of these addresses and to no other.
   * @throws Error where it leads inside the house
   */
  resolve(host: string): Promise<{ address: string; family: number }[]>
}

/**
 * What a subscription receives. `notified`: there may be a new notification. `quiet`: none for about a second. `replaced`: the
 * user opened too many other streams. `over`: the service stops.
 */
export type StreamSignal = 'notified' | 'quiet' | 'replaced' | 'over'

/** The subscription of one user. A signal that came between two calls of `next` answers the later call. */
export type Subscription = { next(): Promise<StreamSignal>; close(): void }

/** Signals the open streams of this process when their users may have new notifications. */
export type StreamHub = {
  /** @throws Problem 503 where too many streams are open, or the service stops */
  subscribe(tenant_id: string, user_id: string): Subscription
}

/** What an operation is handed. */
export type Ctx = WorkCtx & {
  /** The database's clock when the credential was checked. */
  now: Date
  via: 'token' | 'api_key'
  source_ip: string
  tokens: Tokens
  sealer: Sealer
  egress: Egress
  /** Where the service is reached from outside. */
  public_url: string
  providerSignIn: ProviderSignIn
  streams: StreamHub
}

/** The service itself, as an actor: deadlines and effects. */
export const systemActor: Actor = { kind: 'system', user_id: null, api_key_id: null, scopes: new Set() }

/** Whoever works on the server's own command line, beside the database. */
export const operatorActor: Actor = { kind: 'operator', user_id: null, api_key_id: null, scopes: new Set() }
