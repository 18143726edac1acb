import type { Static, TSchema } from 'typebox'
import type { Ctx } from '../kernel/context.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import type { PageReply, PageRows } from '../kernel/page.ts'
import type { CredentialKind } from './admission.ts'
import type { ErrorObject } from './error-object.ts'
import type { SourceLimit } from './limits.ts'

/** 302 sends its reply, a `Redirect`, as headers. */
type SuccessStatus = 200 | 201 | 202 | 204 | 302

type StreamType = 'application/x-ndjson' | 'text/csv' | 'text/event-stream'

/**
 * One event of a `text/event-stream`. An event with only an `id` gives the client its position, from which it can resume. A
 * `hint` in place of the record tells the client what to do.
 */
export type ServerEvent<Data> = { id?: string; event?: string; data?: Data | { hint: string } }

/** The requested page of a list operation, and how to build its reply. */
export type Page = {
  limit: number
  /** The key of the last row of the previous page; undefined on the first page. */
  after: readonly string[] | undefined
  /** Makes the reply from `limit + 1` rows. `keyOf` gives the key after which the next page begins. */
  of<Row>(rows: Row[], keyOf: (row: Row) => readonly string[]): PageReply<Row>
  /** Makes the reply from a page that says itself where the next one begins. */
  reply<Row>(page: PageRows<Row>): PageReply<Row>
}

/**
 * Seals positions in a stream as the `id` of its events, for the same caller and the same operation alone. Two tokens of one
 * position differ, so that they do not show whether the stream has moved; positions of equal length give tokens of equal length.
 */
export type ResumeTokens = {
  seal(position: readonly string[]): string
  /** Undefined for any text that is no token of this caller and operation. */
  find(text: string): readonly string[] | undefined
}

/** One of several works of a call, each of which succeeds or fails as a call of its own would. */
export type Entry<Result> = {
  /** Names the entry within its call. */
  name: string
  /** Runs the entry when it is its turn. @throws Problem where it is not in time */
  inTurn<Answer>(run: () => Promise<Answer>): Promise<Answer>
  work(ctx: Ctx): Promise<Result>
}

/** The answer that a call of its own would have: its status, and its reply or its error object. */
export type EntryAnswer<Result> = { status: number } & ({ result: Result } | { error: ErrorObject })

/**
 * Does the work of an entry, with the caller's rights as they are then. An error of the entry is its answer, and a fault is logged. With an
 * `Idempotency-Key`, the entry and its answer are one transaction.
 * @throws Problem 409 while another call with the same key does an entry
 */
export type AnswerEntry = <Result>(entry: Entry<Result>) => Promise<EntryAnswer<Result>>

export type Input<Params, Query, Body> = {
  params: Params
  query: Query
  body: Body
  page: Page
  resumeTokens: ResumeTokens
  /** A header of the request by its lower-case name, for the few operations that must know who is calling. */
  header(name: string): string | undefined
  /** The raw body, when the operation keeps it. */
  sent: string
  /** Answers one entry of the call, in an operation that is `inEntries`. */
  answerEntry: AnswerEntry
}

type StaticOr<Schema, Otherwise> = Schema extends TSchema ? Static<Schema> : Otherwise

type Reply<Replies> = { [Status in keyof Replies]: StaticOr<Replies[Status], undefined> }[keyof Replies]

/** What an operation declares: leaving a part out is a type error. */
export type Declaration<
  Params extends TSchema | undefined,
  Query extends TSchema | undefined,
  Body extends TSchema | undefined,
  Replies extends Partial<Record<SuccessStatus, TSchema | null>>,
> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/${string}`
  /** One line, for the reference page. */
  summary: string
  credential: CredentialKind
  /** The permission scope it needs; null when a valid credential, or none at all, is enough. */
  scope: string | null
  params?: Params
  query?: Query
  body?: Body
  /** Exactly one success status; its schema is the allow-list of what is sent. Null: no body. */
  replies: Replies
  /** In a live tenant a person's sign-in must be at most an hour old. By default: where the scope decides who may do what. */
  freshSignIn?: true
  /** A sign-in without the second factor that the user must have is enough: to set one up, or to sign out. */
  allowsOneFactor?: true
  /** A person of the rehearsal may not: it would be a way in that outlives their token. */
  refusesRehearsal?: true
  /**
   * Whether the caller's rights are confirmed before the change commits. By default: where the scope ends in `:write`, and where a person
   * changes what is theirs (`credential: 'user'`).
   */
  confirms?: false
  /** The errors it can answer, beyond those of every operation with its kind of credential. */
  errors: readonly ErrorCode[]
  /**
   * The operation may change what credentials of the tenant prove: active users, roles and their scopes, groups and their
   * scopes, keys. This process drops its cache of them before the answer; the database notifies the other processes.
   */
  changes?: 'authority'
  /**
   * The rate limit of a caller's address when there is no credential: counted by answers 401, or by every call.
   */
  limitedBy?: SourceLimit
  /** It sets or removes a cookie, so its answer is never kept for a later call with the same `Idempotency-Key`. */
  setsCookie?: true
  /** Its answer is a secret that exists nowhere else, so it is never kept: an `Idempotency-Key` is ignored, and each call does the work. */
  keepsNoAnswer?: true
  /**
   * An `Idempotency-Key` belongs to the session that sent it, while its sign-in is fresh. For what a weaker sign-in of the same person must
   * not learn by a replay, which skips `run` and so its checks: a secret in the answer, or in the body whether it was right.
   */
  keyOfSession?: true
  /** The tenant that the body names, for a caller without a credential; undefined: none that exists. */
  tenantIn?(body: StaticOr<Body, undefined>): string | undefined
  /** The caller need not name the tenant: the credential does. A tenant that is named must be that one. */
  tenantHeader?: 'optional'
  /** The `ETag` of its reply, with quotes: a different one for each state of the record. */
  etag?(reply: Reply<Replies>): string
  /** The path at which the record that it made is read: the header `Location`. Every 201 has it, unless the record has no path of its own. */
  location?(reply: Reply<Replies>): string
  /** It reads the header `If-Match`, so that a caller cannot change a state they have not seen. */
  takesIfMatch?: true
  /**
   * `run` does several works, each by `answerEntry`, and nothing else that changes something. `prepare` then runs at each call, also at a
   * repeated one.
   */
  inEntries?: true
  /** Drops the fields of a sent body that are to be ignored even when they are not valid; the rest is checked. */
  withoutIgnored?(sent: unknown): unknown
  /** Its caller authenticates with a signature of the raw body, which is kept as `sent`. */
  keepsBody?: true
  /** Bytes; 1 MiB where absent. */
  bodyLimit?: number
  /** How many values the body may have in all, for one that is large by a single text: reading many takes long. Any number where absent. */
  bodyValues?: number
  /**
   * The reply is streamed while `run` yields it; its schema is that of one line, or of an event's data. A line of
   * CSV has a text for each property of the schema, in their order. Events may go on
   * without end: `undefined` means that there is no event now, and must be yielded about every second.
   */
  streams?: StreamType
  /** The name under which a browser saves the reply. */
  fileName?: string
  /** The `id` of its events is one of the input's `resumeTokens`, and any text is accepted; left out: a uuid. */
  sealsEventIds?: true
  /** It chooses by the caller's scopes what it streams, so it ends when they change. */
  endsWithScopes?: true
  /** The reply as text, for a caller that requests `text/plain` rather than JSON. */
  replyText?(reply: Reply<Replies>): string
  /** The field that takes a body sent as `text/plain`. */
  bodyText?: string
  /** The body is a form, as browsers and OpenID providers send it; JSON where absent. */
  bodyType?: 'form'
  /**
   * Work that waits for others, such as a call to an address, before `run`. With an `Idempotency-Key`, `run` is one transaction and
   * holds a connection; `prepare` holds none. It writes nothing but refusals.
   */
  prepare?(
    ctx: Ctx,
    input: Input<StaticOr<Params, undefined>, StaticOr<Query, undefined>, StaticOr<Body, undefined>>,
  ): Promise<void>
  run(
    ctx: Ctx,
    input: Input<StaticOr<Params, undefined>, StaticOr<Query, undefined>, StaticOr<Body, undefined>>,
  ): Promise<Reply<Replies>> | AsyncIterable<Reply<Replies>> | AsyncIterable<ServerEvent<Reply<Replies>> | undefined>
}

/** An operation as the pipeline runs it; its types were checked at its declaration. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly summary: string
  readonly credential: CredentialKind
  readonly scope: string | null
  readonly freshSignIn: boolean
  readonly allowsOneFactor: boolean
  readonly refusesRehearsal: boolean
  readonly confirms: boolean
  readonly params: TSchema | undefined
  readonly query: TSchema | undefined
  readonly body: TSchema | undefined
  readonly status: SuccessStatus
  readonly reply: TSchema | null
  readonly errors: readonly ErrorCode[]
  readonly changes: 'authority' | undefined
  readonly tenantHeader: 'optional' | undefined
  readonly tenantIn: ((body: never) => string | undefined) | undefined
  readonly setsCookie: boolean
  readonly keepsNoAnswer: boolean
  readonly keyOfSession: boolean
  readonly limitedBy: SourceLimit | undefined
  readonly etag: ((reply: never) => string) | undefined
  readonly location: ((reply: never) => string) | undefined
  readonly takesIfMatch: boolean
  readonly inEntries: boolean
  readonly withoutIgnored: (sent: unknown) => unknown
  readonly keepsBody: boolean
  readonly bodyLimit: number | undefined
  readonly bodyValues: number | undefined
  readonly streams: StreamType | undefined
  readonly fileName: string | undefined
  readonly sealsEventIds: boolean
  readonly endsWithScopes: boolean
  readonly replyText: ((reply: never) => string) | undefined
  readonly bodyText: string | undefined
  readonly bodyType: 'form' | undefined
  readonly prepare: ((ctx: Ctx, input: Input<never, never, never>) => Promise<void>) | undefined
  run(ctx: Ctx, input: Input<never, never, never>): Promise<unknown> | AsyncIterable<unknown>
}

/** Writes under these scopes change who may do what, and where. */
const freshScopes = ['policies', 'roles', 'api_keys', 'identity_providers', 'provisioners'].map(
  (noun) => `${noun}:write`,
)

/** What an attacker would undo or seize with a call that was admitted before the caller's rights ended. */
function isConfirmed({ method, credential, scope }: Pick<Operation, 'method' | 'credential' | 'scope'>): boolean {
  return method !== 'GET' && (credential === 'user' || scope?.endsWith(':write') === true)
}

/** Declares one endpoint. */
export function operation<
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
  const Replies extends Partial<Record<SuccessStatus, TSchema | null>> = Record<never, never>,
>(declared: Declaration<Params, Query, Body, Replies>): Operation {
  const [[status, reply] = ['204', null]] = Object.entries(declared.replies)
  return {
    method: declared.method,
    path: declared.path,
    summary: declared.summary,
    credential: declared.credential,
    scope: declared.scope,
    allowsOneFactor: declared.allowsOneFactor ?? false,
    refusesRehearsal: declared.refusesRehearsal ?? false,
    confirms: declared.confirms ?? isConfirmed(declared),
    freshSignIn: declared.freshSignIn ?? (declared.method !== 'GET' && freshScopes.includes(declared.scope ?? '')),
    params: declared.params,
    query: declared.query,
    body: declared.body,
    status: Number(status) as SuccessStatus,
    reply: reply as TSchema | null,
    errors: declared.errors,
    changes: declared.changes,
    limitedBy: declared.limitedBy,
    tenantHeader: declared.tenantHeader,
    tenantIn: declared.tenantIn as Operation['tenantIn'],
    setsCookie: declared.setsCookie ?? false,
    keepsNoAnswer: declared.keepsNoAnswer ?? false,
    keyOfSession: declared.keyOfSession ?? false,
    etag: declared.etag,
    location: declared.location,
    takesIfMatch: declared.takesIfMatch ?? false,
    inEntries: declared.inEntries ?? false,
    withoutIgnored: declared.withoutIgnored ?? ((sent) => sent),
    keepsBody: declared.keepsBody ?? false,
    bodyLimit: declared.bodyLimit,
    bodyValues: declared.bodyValues,
    streams: declared.streams,
    fileName: declared.fileName,
    sealsEventIds: declared.sealsEventIds ?? false,
    endsWithScopes: declared.endsWithScopes ?? false,
    replyText: declared.replyText,
    bodyText: declared.bodyText,
    bodyType: declared.bodyType,
    prepare: declared.prepare as Operation['prepare'],
    run: declared.run as Operation['run'],
  }
}
