/**
 * A question to policy: may this principal do this action to this resource, in these circumstances? Plain data, and its
 * form for the engine.
 *
 * INVARIANT: only typed fields are passed on, each checked against its type. A value that the engine reads as one of its escapes
 * (`{"__extn": …}`) would void a rule, so no value is passed on unchecked.
 */
import { isIP } from 'node:net'
import type { EntityJson, StatefulAuthorizationCall } from './engine.ts'
import { type EntityReference, entityKey } from './reading.ts'
import { type AskedType, approveAction } from './schema.ts'
import { plainReference } from './scope.ts'

/** The requester or the approver, as currently stored. */
export type Principal = {
  id: string
  email: string
  /** The person's own identity provider vouches for the address. Always present: a rule need not test for it. */
  email_verified: boolean
  name: string
  active: boolean
  auth_provider: string
  is_owner: boolean
  scopes: readonly string[]
  group_ids: readonly string[]
  /** The person's own roles, and those of their groups. */
  role_ids: readonly string[]
} & Facts

/** What a person's directory, or another person, says of them. Absent: not known. */
export type Facts = {
  department?: string
  title?: string
  /** The id of the person's manager. */
  manager?: string
}

/**
 * A person in the decision of a request. What its requester gave or wrote since does not count: it permits nothing, and lifts no forbid.
 */
export type Weighed = {
  /** The person with the rights and facts that count. */
  counting: Principal
  /** The person as they are now. */
  whole: Principal
}

export type ResourceReference = { type: AskedType; id: string }

/** A requested resource, as the account cache or the target describes it, never as the requester does. */
export type Resource = ResourceReference & {
  /** '' when unknown. */
  name: string
  tags: Readonly<Record<string, string>>
  /** All ancestors. */
  parents: readonly ResourceReference[]
  /** The action that is evaluated for this resource, where it differs from the requested one. */
  as_action?: string
  /**
   * Nobody knows in which account the resource lies, so that it is evaluated as if in one of the accounts where it may be, or in
   * none: the request names no account, or nothing confirms the one that it names.
   */
  as_if?: 'unnamed' | 'unconfirmed'
  /** The account in which it lies, where the account cache knows no such account. */
  unknown_account?: string
}

/**
 * The tenant's facts about the entities that its rules name and read, by `entityKey`; null: the tenant knows no such entity. An
 * entity that is missing was not loaded: a question that needs it has no answer.
 */
export type LiteralFacts = ReadonlyMap<string, { user: Principal } | { resource: Resource } | null>

/** The circumstances, recorded with a request and reused when the request is evaluated again. */
export type RequestContext = {
  duration_seconds: number
  has_reason: boolean
  break_glass: boolean
  now: Date
  /** IANA name of the tenant's time zone; weekday and minute are local to it. */
  time_zone: string
  via: 'token' | 'api_key'
  source_ip: string
}

/** A request that an approver is to decide. */
export type AccessRequest = {
  id: string
  requester: Principal
  action: string
  duration_seconds: number
  break_glass: boolean
}

/**
 * May the principal have this access? `resources` is the requested resource and then each account that the access would cover;
 * each of them is evaluated.
 */
export type AskQuestion = {
  principal: Principal
  action: string
  resources: readonly Resource[]
  context: RequestContext
} & Beyond

/** What a question may hold beyond its own facts. */
type Beyond = {
  /** Absent: none are loaded. */
  literals?: LiteralFacts
  /** Why the question cannot be put to the rules, as a sentence for people: it is denied. */
  unanswerable?: string
}

/** The action that is evaluated for one of the resources. */
export function actionAskedOn({ action }: Pick<AskQuestion, 'action'>, { as_action = action }: Resource): string {
  return as_action
}

/** May the principal decide this request? Evaluated for each of `targets`: the requested resource, then each account. */
export type ApproveQuestion = {
  principal: Principal
  /** The approver and the requester with what does not count: the rules must allow it for these too. None where all counts. */
  whole?: readonly { principal: Principal; requester: Principal }[]
  request: AccessRequest
  targets: readonly Resource[]
  context: RequestContext
} & Beyond

/** The engine's input, without the names of its schema and rules. */
export type EngineQuestion = Pick<
  StatefulAuthorizationCall,
  'principal' | 'action' | 'resource' | 'context' | 'entities'
>

/** The engine's input for a request of one resource; `action` is the name that the rules use for it. */
export function askOf(question: AskQuestion, resource: Resource, action: string): EngineQuestion {
  return {
    principal: reference('User', question.principal.id),
    action: reference('Action', action),
    resource: reference(resource.type, resource.id),
    context: contextRecord(question.context),
    entities: [userEntity(question.principal), resourceEntity(resource)],
  }
}

/** The engine's input for the decision of a request in one of its targets. */
export function approveOf(question: ApproveQuestion, target: Resource): EngineQuestion {
  const { request, principal } = question
  const entity = {
    uid: reference('access_request', request.id),
    attrs: {
      requester: { __entity: reference('User', request.requester.id) },
      action: text(request.action, 'action'),
      duration_seconds: whole(request.duration_seconds, 'duration_seconds'),
      break_glass: truth(request.break_glass, 'break_glass'),
    },
    parents: [target, ...target.parents].map(({ type, id }) => reference(type, id)),
  }
  return {
    principal: reference('User', principal.id),
    action: reference('Action', approveAction),
    resource: entity.uid,
    context: contextRecord(question.context),
    // A rule may read the target by its name.
    entities: [userEntity(principal), userEntity(request.requester), entity, resourceEntity(target)],
  }
}

/**
 * The input with these entities, which rules name and read. Where one of them is an entity of the question, the question's own facts
 * count.
 * @throws Error for one that was not loaded
 */
export function withLiterals(
  question: EngineQuestion,
  named: readonly EntityReference[],
  facts: LiteralFacts | undefined,
): EngineQuestion {
  if (named.length === 0) return question
  const present = new Set(question.entities.map(({ uid }) => entityKey(plainReference(uid))))
  const entities = named.flatMap((one) => {
    const key = entityKey(one)
    const fact = facts?.get(key)
    if (fact === undefined) throw new Error(`the facts about \`${key}\`, which a rule reads, were not loaded`)
    if (fact === null || present.has(key)) return []
    return 'user' in fact ? userEntity(fact.user) : resourceEntity(fact.resource)
  })
  return { ...question, entities: [...question.entities, ...entities] }
}

function userEntity(user: Principal): EntityJson {
  return {
    uid: reference('User', user.id),
    attrs: {
      email: text(user.email, 'email'),
      email_verified: truth(user.email_verified, 'email_verified'),
      name: text(user.name, 'name'),
      active: truth(user.active, 'active'),
      auth_provider: text(user.auth_provider, 'auth_provider'),
      is_owner: truth(user.is_owner, 'is_owner'),
      scopes: user.scopes.map((scope) => text(scope, 'scopes')),
      ...factsOf(user),
    },
    parents: [
      ...user.group_ids.map((id) => reference('Group', id)),
      ...user.role_ids.map((id) => reference('Role', id)),
    ],
  }
}

/** Only facts that are known: an attribute that is absent is the one thing that `has` tells from others. */
function factsOf({ department, title, manager }: Facts): EntityJson['attrs'] {
  return {
    ...(department !== undefined && { department: text(department, 'department') }),
    ...(title !== undefined && { title: text(title, 'title') }),
    ...(manager !== undefined && { manager: { __entity: reference('User', manager) } }),
  }
}

function resourceEntity(resource: Resource): EntityJson {
  const tags = Object.entries(resource.tags).map(([key, value]) => [text(key, 'tags'), text(value, 'tags')])
  return {
    uid: reference(resource.type, resource.id),
    attrs: { name: text(resource.name, 'name') },
    parents: resource.parents.map(({ type, id }) => reference(type, id)),
    tags: Object.fromEntries(tags),
  }
}

function contextRecord(context: RequestContext): EngineQuestion['context'] {
  const { weekday, minute } = localTime(context.now, context.time_zone)
  return {
    duration_seconds: whole(context.duration_seconds, 'duration_seconds'),
    has_reason: truth(context.has_reason, 'has_reason'),
    break_glass: truth(context.break_glass, 'break_glass'),
    now: { __extn: { fn: 'datetime', arg: context.now.toISOString() } },
    weekday,
    minute,
    via: text(context.via, 'via'),
    source_ip: { __extn: { fn: 'ip', arg: plainAddress(context.source_ip) } },
  }
}

/** By time zone name, each in the one spelling that the setting allows; so there are at most as many entries as zones. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/**
 * Weekday (1 is Monday) and minute since midnight in a time zone (IANA name).
 * @throws RangeError for a zone that does not exist.
 */
export function localTime(instant: Date, timeZone: string): { weekday: number; minute: number } {
  let clock = clocks.get(timeZone)
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: 'short',
      hour: 'numeric',
      minute: 'numeric',
      hourCycle: 'h23',
    })
    clocks.set(timeZone, clock)
  }
  const parts = Object.fromEntries(clock.formatToParts(instant).map((part) => [part.type, part.value]))
  return {
    weekday: weekdays.indexOf(parts.weekday ?? '') + 1,
    minute: Number(parts.hour) * 60 + Number(parts.minute),
  }
}

/** An address in the form of the rules: an IPv4 address mapped into IPv6 becomes the IPv4 address, a zone index is removed. */
function plainAddress(address: string): string {
  const [plain = ''] = text(address, 'source_ip').split('%')
  if (isIP(plain) === 0) throw new TypeError('`source_ip` is not an address')
  if (isIP(plain) === 4) return plain
  // Normalize the spelling of the IPv6 address first; then a mapped IPv4 address can be read from it.
  const { hostname } = new URL(`http://[${plain}]`)
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? []
  if (high === undefined || low === undefined) return hostname.slice(1, -1)
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join('.')
}

function reference(type: string, id: string): { type: string; id: string } {
  return { type, id: text(id, 'id') }
}

function text(value: unknown, field: string): string {
  if (typeof value !== 'string' || !value.isWellFormed()) throw new TypeError(`\`${field}\` is not well-formed text`)
  return value
}

function truth(value: unknown, field: string): boolean {
  if (typeof value !== 'boolean') throw new TypeError(`\`${field}\` is neither true nor false`)
  return value
}

function whole(value: unknown, field: string): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`\`${field}\` is not a whole number`)
  return value as number
}
