/**
 * A question to policy: may this principal do this action to this resource, in these circumstances? Plain data, and its
 * form for the engine.
 *
 * INVARIANT: only typed fields are passed on, each checked to be what its type says. A value that the engine reads as one
 * of its escapes (`{"__extn": …}`) would void a rule, so nothing goes in as it came.
 */
import { isIP } from 'node:net'
import type { EntityJson, StatefulAuthorizationCall } from './engine.ts'
import { type AskedType, approveAction } from './schema.ts'

/** The person who asks or decides, as the database has them now. */
export type Principal = {
  id: string
  email: string
  name: string
  active: boolean
  auth_provider: string
  is_owner: boolean
  scopes: readonly string[]
  group_ids: readonly string[]
  /** Own roles, and those of the groups. */
  role_ids: readonly string[]
}

export type ResourceReference = { type: AskedType; id: string }

/** What is asked for, as the account cache or the target has it: never as the requester says. */
export type Resource = ResourceReference & {
  /** '' when it is not known. */
  name: string
  tags: Readonly<Record<string, string>>
  /** All ancestors. */
  parents: readonly ResourceReference[]
  /** The action that is given there, where it is another than the one asked for. */
  as_action?: string
}

/** The circumstances, recorded with a request and the same when it is asked again. */
export type RequestContext = {
  duration_seconds: number
  has_reason: boolean
  break_glass: boolean
  now: Date
  /** IANA name of the tenant's time zone; weekday and minute are those of its clocks. */
  time_zone: string
  via: 'token' | 'api_key'
  source_ip: string
}

/** A request to be decided. */
export type AccessRequest = {
  id: string
  requester: Principal
  action: string
  duration_seconds: number
  break_glass: boolean
}

/**
 * May the principal have this access? `resources` is the resource asked for and then each account that the access would
 * touch: every one is asked.
 */
export type AskQuestion = {
  principal: Principal
  action: string
  resources: readonly Resource[]
  context: RequestContext
}

/** The action that is put about one of the resources. */
export function actionAskedOn({ action }: Pick<AskQuestion, 'action'>, { as_action = action }: Resource): string {
  return as_action
}

/** May the principal decide this request? It is asked in each of `targets`: the resource it asks for, then each account. */
export type ApproveQuestion = {
  principal: Principal
  request: AccessRequest
  targets: readonly Resource[]
  context: RequestContext
}

/** What the engine is asked, but for the names of its schema and rules. */
export type EngineQuestion = Pick<
  StatefulAuthorizationCall,
  'principal' | 'action' | 'resource' | 'context' | 'entities'
>

/** The engine's form of asking for one resource; `action` is the name that the rules know it by. */
export function askOf(question: AskQuestion, resource: Resource, action: string): EngineQuestion {
  return {
    principal: reference('User', question.principal.id),
    action: reference('Action', action),
    resource: reference(resource.type, resource.id),
    context: contextRecord(question.context),
    entities: [userEntity(question.principal), resourceEntity(resource)],
  }
}

/** The engine's form of deciding a request in one of its targets. */
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
    entities: [userEntity(principal), userEntity(request.requester), entity],
  }
}

function userEntity(user: Principal): EntityJson {
  return {
    uid: reference('User', user.id),
    attrs: {
      email: text(user.email, 'email'),
      name: text(user.name, 'name'),
      active: truth(user.active, 'active'),
      auth_provider: text(user.auth_provider, 'auth_provider'),
      is_owner: truth(user.is_owner, 'is_owner'),
      scopes: user.scopes.map((scope) => text(scope, 'scopes')),
    },
    parents: [
      ...user.group_ids.map((id) => reference('Group', id)),
      ...user.role_ids.map((id) => reference('Role', id)),
    ],
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

/** By the names of their zones, each in its one spelling as the setting has it: there are no more than there are zones. */
const clocks = new Map<string, Intl.DateTimeFormat>()
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/**
 * Weekday (1 is Monday) and minute since midnight on the clocks of a time zone (IANA name).
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

/** An address as rules write it: an IPv4 address mapped into IPv6 is the IPv4 address, a zone index is left out. */
function plainAddress(address: string): string {
  const [plain = ''] = text(address, 'source_ip').split('%')
  if (isIP(plain) === 0) throw new TypeError('`source_ip` is not an address')
  if (isIP(plain) === 4) return plain
  // One spelling for all that an IPv6 address has, and from it the IPv4 address that is mapped into it.
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
