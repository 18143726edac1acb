import { type Static, Type } from 'typebox'
import { minSeconds } from '../grants/grant.ts'
import { AnyObject, Body, Nullable } from '../http/schema.ts'
import { type FaultyField, invalidInput } from '../kernel/errors.ts'
import { isSeen } from '../kernel/one-line-name.ts'
import { findActionFault, findIdFault, maxActionLength } from '../policy-engine/cedar/reference-faults.ts'
import type { Settings } from '../settings/setting.ts'
import { maxPlaces, ResourceReference } from './request.ts'

const maxSeconds = 1_209_600
const maxMetadataBytes = 16 * 1024

/** How long access lasts. */
export const DurationSeconds = Type.Integer({ minimum: minSeconds, maximum: maxSeconds })

const Reason = Type.Optional(
  Nullable(
    Type.String({
      maxLength: 2_000,
      description:
        'required, as text that one can see, in an emergency and where the setting `requests.require_reason` is true',
    }),
  ),
)

/** The input of a new request. */
export const RequestInput = Body({
  resource: ResourceReference,
  action: Type.String({
    minLength: 1,
    maxLength: maxActionLength,
    description:
      'a permission set’s name, or a verb of your own: one line of visible text, without spaces around it or `__` before it',
  }),
  reason: Reason,
  duration_seconds: Type.Optional(
    Nullable(
      Type.Integer({
        ...DurationSeconds,
        description:
          'at most the setting `requests.max_duration_seconds`; absent or null: `requests.default_duration_seconds`, if not longer',
      }),
    ),
  ),
  break_glass: Type.Optional(Type.Boolean({ description: 'an emergency: needs a reason, and a rule that allows it' })),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...AnyObject,
      description:
        `at most ${maxMetadataBytes / 1024} KiB of JSON. \`account_id\`: the account of the resource, 12 digits, which its id must not ` +
        `contradict. \`account_ids\`: for a permission set, and required there: the accounts on which it is given, 1 to ${maxPlaces} ` +
        'different ones',
    }),
  ),
})
export type RequestInput = Static<typeof RequestInput>

/** The input of an extension. */
export const ExtensionInput = Body({
  duration_seconds: Type.Integer({
    ...DurationSeconds,
    description: 'how long the access lasts beyond its end; with the time before it, at most the tenant’s maximum',
  }),
  reason: Reason,
})
export type ExtensionInput = Static<typeof ExtensionInput>

/** The fault of an emergency without a reason. */
export const missingReason: FaultyField = {
  pointer: '/reason',
  why: 'is required in an emergency, as text that one can see: say what is broken',
}

/** @throws Problem 400 naming each faulty field that the schema cannot check */
export function requireSoundRequest(input: RequestInput): void {
  const { resource, action, reason, break_glass, metadata } = input
  const faults: FaultyField[] = []
  const idFault = findIdFault(resource)
  if (idFault !== undefined) faults.push({ pointer: '/resource/id', why: idFault })
  const actionFault = findActionFault(action)
  if (actionFault !== undefined) faults.push({ pointer: '/action', why: actionFault })
  if (break_glass === true && !hasReason(reason)) {
    faults.push(missingReason)
  }
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes) {
    faults.push({ pointer: '/metadata', why: `is larger than ${maxMetadataBytes / 1024} KiB` })
  }
  if (faults.length > 0) throw invalidInput(faults)
}

/** Whether there is a reason that approvers, and readers of the log, can see. */
export function hasReason(reason: string | null | undefined): boolean {
  return reason !== undefined && reason !== null && isSeen(reason)
}

/**
 * The seconds of access to give.
 * @throws Problem 400 above the tenant's cap: a requested duration is never clamped
 */
export function settleDuration(requested: number | null | undefined, settings: Settings): number {
  const cap = settings['requests.max_duration_seconds']
  if (requested === undefined || requested === null) return Math.min(settings['requests.default_duration_seconds'], cap)
  if (requested > cap) {
    throw invalidInput([{ pointer: '/duration_seconds', why: `must be at most ${cap}, the tenant’s maximum` }])
  }
  return requested
}

/** @throws Problem 400 where the tenant requires a reason and there is none */
export function requireReason(input: Pick<RequestInput, 'reason'>, settings: Settings): void {
  if (settings['requests.require_reason'] && !hasReason(input.reason)) {
    throw invalidInput([{ pointer: '/reason', why: 'is required in this tenant, as text that one can see' }])
  }
}
