/** Builds questions from the constraints of a search. */
import type {
  ApproveQuestion,
  AskQuestion,
  Principal,
  RequestContext,
  Resource,
} from '../../policy-engine/cedar/question.ts'
import { type Constraint, type Constraints, merged, theOther } from './constraints.ts'
import { canBeIn, type PrincipalWitness, type ResourceWitness } from './witness.ts'

/** The fixed part of a search: the principal and the resource, as the scopes require them, and the kind of request. */
export type Frame = {
  principal: PrincipalWitness
  action: string
  resource: ResourceWitness
  break_glass: boolean
}

/** The longest duration that can be requested: 14 days, in seconds. */
const maxSeconds = 1_209_600
/** Midnight of a Monday. */
const monday = Date.parse('2025-01-06T00:00:00Z')
const [dayMs, minuteMs] = [86_400_000, 60_000]

/** The question for a frame and its constraints; undefined where no such question is possible. */
export function questionOf(frame: Frame, constraints: Constraints): AskQuestion | undefined {
  const action = textOf(constraints.get('action'), frame.action)
  const path = constraints.get('context.break_glass')?.is
  if (action === 'approve' || action === '' || (path !== undefined && path !== frame.break_glass)) return undefined
  const context = contextOf(frame, constraints)
  const resource = resourceOf(frame.resource, constraints)
  const principal = withFacts(principalOf(requester, frame.principal, constraints), 'principal', constraints)
  return context && resource && { principal, action, resources: [resource], context }
}

/** The fixed part of a search among decisions of requests: the approver, and the requested resource. */
export type ApprovalFrame = Pick<Frame, 'principal' | 'resource'>

/** Any id: rules cannot read one request. */
const requestId = '00000000-0000-4000-8000-000000000000'

/** The question whether somebody may decide a request; undefined where no such question is possible. */
export function approvalOf(frame: ApprovalFrame, constraints: Constraints): ApproveQuestion | undefined {
  const all = withOneDuration(constraints)
  // An emergency is approved at once: nobody decides it.
  const context = all && contextOf({ break_glass: false }, all)
  const resource = resourceOf(frame.resource, constraints)
  const action = textOf(constraints.get('resource.action'), 'some-action')
  if (context === undefined || resource === undefined || action === 'approve' || action === '') return undefined
  const decider = principalOf(approver, frame.principal, constraints)
  const asker = principalOf(askerOfRequest, { id: 'requester', groups: [], roles: [] }, constraints)
  if (decider.id === asker.id) return undefined
  const { duration_seconds, break_glass } = context
  const principal = withFacts(decider, 'principal', constraints, asker.id)
  const requester = withFacts(asker, 'requester', constraints, decider.id)
  const request = { id: requestId, requester, action, duration_seconds, break_glass }
  return { principal, request, targets: [resource], context }
}

/** The request and the context state the same duration; undefined where the constraints on them contradict each other. */
function withOneDuration(constraints: Constraints): Constraints | undefined {
  const own = constraints.get('resource.duration_seconds')
  return own === undefined ? constraints : merged(constraints, new Map([['context.duration_seconds', own]]))
}

/** A person of a question: how settings name the person, and the scope without which the person would not be asked about. */
type Part = { prefix: '' | 'requester:'; subject: 'principal' | 'requester'; name: string; scope: string }
const requester: Part = { prefix: '', subject: 'principal', name: 'Somebody', scope: 'requests:create' }
const approver: Part = { ...requester, scope: 'requests:approve' }
const askerOfRequest: Part = {
  ...{ prefix: 'requester:', subject: 'requester', name: 'Requester', scope: 'requests:create' },
}

function principalOf(part: Part, { id, groups, roles }: PrincipalWitness, constraints: Constraints): Principal {
  const { prefix, subject, name, scope } = part
  const settingOf = (attribute: string) => constraints.get(`${subject}.${attribute}`)
  const text = (attribute: string, otherwise: string) => textOf(settingOf(attribute), otherwise)
  const members = wanted(constraints, `${prefix}member:`)
  const of = (type: string) =>
    members.flatMap((name) => (name.startsWith(`${type}::`) ? name.slice(type.length + 2) : []))
  return {
    id: text('id', id),
    email: text('email', `${name.toLowerCase()}@example.com`),
    email_verified: settingOf('email_verified')?.is === true,
    name: text('name', name),
    active: true,
    auth_provider: text('auth_provider', 'local'),
    is_owner: settingOf('is_owner')?.is === true,
    scopes: [...new Set([scope, ...wanted(constraints, `${prefix}scope:`)])],
    group_ids: [...new Set([...groups, ...of('Group')])],
    role_ids: [...new Set([...roles, ...of('Role')])],
  }
}

/** Facts are not known unless a constraint wants them. `other`: the other of the two people of a decision. */
function withFacts(person: Principal, subject: Part['subject'], constraints: Constraints, other?: string): Principal {
  const factOf = (name: string, usual: string) => {
    const setting = constraints.get(`${subject}.${name}`)
    const isKnown = constraints.get(`known:${subject}.${name}`)?.is
    if (isKnown === false || (isKnown === undefined && setting === undefined)) return undefined
    return textOf(setting, usual)
  }
  const [department, title, named] = [factOf('department', 'Some'), factOf('title', 'Some'), factOf('manager', 'boss')]
  const manager = named === theOther ? other : named
  return {
    ...person,
    ...(department !== undefined && { department }),
    ...(title !== undefined && { title }),
    // Nobody is their own manager.
    ...(manager !== undefined && manager !== person.id && { manager }),
  }
}

function resourceOf({ type, id, parents }: ResourceWitness, constraints: Constraints): Resource | undefined {
  const names = wanted(constraints, 'in:').filter((name) => name !== `${type}::${id}`)
  const more = names.map((name) => ({ type: name.split('::')[0] ?? '', id: name.slice(name.indexOf('::') + 2) }))
  const all = [...new Map([...parents, ...more].map((one) => [`${one.type}::${one.id}`, one])).values()]
  if (!canBeIn(type, all)) return undefined
  const tags = wanted(constraints, 'has:').map((key) => [key, textOf(constraints.get(`tag:${key}`), 'x')])
  return {
    type,
    id,
    name: textOf(constraints.get('resource.name'), ''),
    tags: Object.fromEntries(tags),
    parents: all as Resource['parents'],
  }
}

function contextOf({ break_glass }: Pick<Frame, 'break_glass'>, constraints: Constraints): RequestContext | undefined {
  const number = (name: string, usual: number) => numberIn(constraints.get(`context.${name}`), usual)
  const [duration, weekday, minute] = [number('duration_seconds', 3_600), number('weekday', 3), number('minute', 720)]
  const now = number('now', monday + (weekday - 1) * dayMs + minute * minuteMs)
  const via = textOf(constraints.get('context.via'), 'token', 'api_key')
  const possible =
    duration >= 1 && duration <= maxSeconds && weekday >= 1 && weekday <= 7 && minute >= 0 && minute < 1_440
  if (!possible || (via !== 'token' && via !== 'api_key') || Math.abs(now) > 8.64e15) return undefined
  return {
    duration_seconds: duration,
    has_reason: break_glass || constraints.get('context.has_reason')?.is !== false,
    break_glass,
    now: new Date(now),
    time_zone: 'UTC',
    via,
    source_ip: textOf(constraints.get('context.source_ip'), '192.0.2.1', '198.51.100.1'),
  }
}

/** The names of the settings of a kind that must exist. */
function wanted(constraints: Constraints, kind: string): string[] {
  return [...constraints].flatMap(([setting, { is }]) =>
    setting.startsWith(kind) && is === true ? setting.slice(kind.length) : [],
  )
}

function textOf(constraint: Constraint | undefined, usual: string, otherwise = 'another'): string {
  if (typeof constraint?.is === 'string') return constraint.is
  return constraint?.not?.includes(usual) ? otherwise : usual
}

function numberIn({ min = -Infinity, max = Infinity }: Constraint = {}, usual: number): number {
  return Math.min(Math.max(usual, min), max)
}
