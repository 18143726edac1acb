/**
 * A policy case: a policy question with its expected answer. It is self-contained and reads no stored data, so its meaning never
 * changes. Absent fields have defaults.
 */
import { isIP } from 'node:net'
import { type Static, Type } from 'typebox'
import { recordTag } from '../../http/if-match.ts'
import { Body, Line, Name, OneOf, Uuid } from '../../http/schema.ts'
import { type FaultyField, invalidInput } from '../../kernel/errors.ts'
import { readZone } from '../../kernel/time-zone.ts'
import { findActionFault, findIdFault } from '../../policy-engine/cedar/reference-faults.ts'
import { type AskedType, ancestorTypes, approveAction, askedTypes } from '../../policy-engine/cedar/schema.ts'
import { approvalModes } from '../../policy-engine/rule.ts'
import { readReference } from './reference.ts'

/** The maximum number of cases of a tenant. */
export const maxCases = 1_000

const Ids = (description: string) => Type.Array(Line(256), { maxItems: 100, description })

const Person = Body({
  id: Type.Optional(Line(256, { description: 'the id as in rules: `User::"<id>"`; `somebody` when absent' })),
  email: Type.Optional(Line(254)),
  email_verified: Type.Optional(Type.Boolean({ description: 'false when absent, as for a local user' })),
  name: Type.Optional(Line(200)),
  active: Type.Optional(Type.Boolean({ description: 'true when absent' })),
  auth_provider: Type.Optional(Line(64, { description: '`local` when absent' })),
  is_owner: Type.Optional(Type.Boolean()),
  department: Type.Optional(Name(200, { description: 'not known when absent' })),
  title: Type.Optional(Name(200, { description: 'not known when absent' })),
  manager: Type.Optional(Line(256, { description: 'the id of the manager, as in rules; not known when absent' })),
  groups: Type.Optional(Ids('ids of groups, as in rules')),
  roles: Type.Optional(Ids('ids of roles, own and by group: `approver`, or the uuid of a role of your own')),
  scopes: Type.Optional(Ids('when absent: `requests:create` for a requester, `requests:approve` for an approver')),
})
export type Person = Static<typeof Person>

const Tags = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: 2_048 },
  maxProperties: 100,
})

const CaseResource = Body({
  type: OneOf(askedTypes),
  id: Type.String({ minLength: 1, maxLength: 2_048, description: 'the format depends on the type' }),
  name: Type.Optional(Line(200, { minLength: 0 })),
  tags: Type.Optional(Tags),
  in: Type.Optional(
    Type.Array(Line(2_200), {
      maxItems: 32,
      description: 'all its ancestors, as `cloud_organizational_unit::ou-ab12-12345678`',
    }),
  ),
})
export type CaseResource = Static<typeof CaseResource>

const CaseContext = Body({
  duration_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_209_600, description: '3600 when absent' })),
  has_reason: Type.Optional(Type.Boolean({ description: 'true when absent' })),
  break_glass: Type.Optional(Type.Boolean()),
  now: Type.Optional(Type.String({ format: 'date-time', description: 'a Wednesday at noon when absent' })),
  time_zone: Type.Optional(Line(64, { description: 'the time zone for weekday and minute; `UTC` when absent' })),
  via: Type.Optional(OneOf(['token', 'api_key'])),
  source_ip: Type.Optional(Line(64, { description: '`192.0.2.1` when absent' })),
})
export type CaseContext = Static<typeof CaseContext>

/** The expected answer; an absent field may have any value. */
export const expectation = {
  expect: OneOf(['permit', 'forbid']),
  mode: Type.Optional(OneOf(approvalModes, { description: 'the approval mode of a permitted request' })),
  audit_session: Type.Optional(Type.Boolean()),
  notice: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1_000, description: 'a text that one of the notices must contain' }),
  ),
  rule_ids: Type.Optional(
    Type.Array(Uuid, { minItems: 1, maxItems: 20, description: 'rules that must be among the deciding rules' }),
  ),
}

/** A case as it is sent, stored and returned. */
export const PolicyCase = Type.Object(
  {
    case: Line(200, { description: 'the name of the case, a sentence; no other of the tenant has it' }),
    required: Type.Optional(
      Type.Boolean({ description: 'a change of the rules that would break the case is refused; false when absent' }),
    ),
    who: Type.Optional(Person),
    asks: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'the requested action' })),
    approves: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'the action of the request to decide' }),
    ),
    requester: Type.Optional(Person),
    resource: CaseResource,
    touches: Type.Optional(
      Type.Array(CaseResource, { maxItems: 50, description: 'further places where access would be given' }),
    ),
    context: Type.Optional(CaseContext),
    ...expectation,
  },
  { additionalProperties: false, title: 'PolicyCase' },
)
export type PolicyCase = Static<typeof PolicyCase>

/** Cases in their order. */
export const PolicyCases = Type.Array(PolicyCase, { maxItems: maxCases })

/** The cases of a tenant; a reply can be sent back unchanged. */
export const KeptCases = Body({ cases: PolicyCases })

/** The `ETag` of a list of cases: the same for the same cases, however the fields of each are ordered. */
export function casesTag({ cases }: { cases: readonly PolicyCase[] }): string {
  return recordTag({ cases })
}

const maxFaultsShown = 20

/**
 * Refuses what the schema cannot check: two cases with one name, impossible questions, and answers that the question cannot get.
 * @throws Problem 400 naming the first faults by their pointers
 */
export function requireSoundCases(cases: readonly PolicyCase[]): void {
  const firstAt = new Map<string, number>()
  const faults: FaultyField[] = []
  for (const [index, one] of cases.entries()) {
    if (faults.length >= maxFaultsShown) break
    const first = firstAt.get(one.case)
    if (first === undefined) firstAt.set(one.case, index)
    else
      faults.push({
        pointer: `/cases/${index}/case`,
        why: `is also the name of \`/cases/${first}\`; give each case its own name`,
      })
    faults.push(...faultsOf(one).map(({ pointer, why }) => ({ pointer: `/cases/${index}${pointer}`, why })))
  }
  if (faults.length > 0) throw invalidInput(faults.slice(0, maxFaultsShown))
}

function faultsOf(one: PolicyCase): FaultyField[] {
  const { asks, approves, requester, resource, touches = [], context = {} } = one
  const faults: FaultyField[] = []
  const check = (pointer: string, why: string | undefined) => {
    if (why !== undefined) faults.push({ pointer, why })
  }
  if (asks === undefined && approves === undefined) check('/asks', 'is required where there is no `approves`')
  if (asks !== undefined && approves !== undefined)
    check('/approves', 'is not allowed with `asks`; make it a separate case')
  if (asks !== undefined) check('/asks', askingFault(asks))
  if (approves !== undefined) check('/approves', findActionFault(approves))
  if (requester !== undefined && approves === undefined) check('/requester', 'is allowed only with `approves`')
  faults.push(...resourceFaults(resource, '/resource'))
  for (const [index, place] of touches.entries()) faults.push(...resourceFaults(place, `/touches/${index}`))
  faults.push(...contextFaults(context))
  if (one.expect === 'forbid') {
    for (const field of ['mode', 'audit_session'] as const)
      if (one[field] !== undefined) check(`/${field}`, 'is not allowed with `expect`: `forbid`')
  } else if (approves !== undefined && one.mode !== undefined) {
    check('/mode', 'is not allowed with `approves`: the approval of a request has no approval mode')
  }
  return faults
}

function askingFault(action: string): string | undefined {
  if (action === approveAction) return 'is the action of deciding a request: write `approves: <the requested action>`'
  return findActionFault(action)
}

function resourceFaults({ type, id, tags = {}, in: containers = [] }: CaseResource, at: string): FaultyField[] {
  const faults: FaultyField[] = []
  const idFault = findIdFault({ type, id })
  if (idFault !== undefined) faults.push({ pointer: `${at}/id`, why: idFault })
  if (Object.keys(tags).some((key) => key.startsWith('__')))
    faults.push({ pointer: `${at}/tags`, why: 'must have no name that begins with `__`' })
  for (const [index, text] of containers.entries()) {
    const why = containerFault(type, text)
    if (why !== undefined) faults.push({ pointer: `${at}/in/${index}`, why })
  }
  return faults
}

function containerFault(type: AskedType, text: string): string | undefined {
  const container = readReference(text)
  if (container === undefined) return 'must be type and id, as `cloud_organizational_unit::ou-ab12-12345678`'
  const may = ancestorTypes(type)
  if (may.includes(container.type)) return findIdFault(container)
  const known = may.map((one) => `\`${one}\``).join(' or ')
  return may.length === 0 ? `is not allowed here: a \`${type}\` has no parent` : `must be a ${known}`
}

function contextFaults({ time_zone, source_ip, break_glass, has_reason }: CaseContext): FaultyField[] {
  const faults: FaultyField[] = []
  if (time_zone !== undefined && readZone(time_zone) === undefined)
    faults.push({ pointer: '/context/time_zone', why: 'must be a time zone as IANA names it, such as `Europe/Berlin`' })
  if (source_ip !== undefined && isIP(source_ip) === 0)
    faults.push({ pointer: '/context/source_ip', why: 'must be an address of IPv4 or IPv6' })
  if (break_glass === true && has_reason === false)
    faults.push({
      pointer: '/context/has_reason',
      why: 'must be true in an emergency: an emergency request needs a reason',
    })
  return faults
}
