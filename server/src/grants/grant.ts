import { type Static, Type } from 'typebox'
import { ActionDescription } from '../actions/action.ts'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { Connect } from '../provisioners/connect.ts'
import { gone, Provisioning, SessionRecord, sessionsMayLiveUntil, sessionsNote } from './grant-progress.ts'

/** For the transitions see `grant-transition.ts`. */
export const grantStatuses = ['pending', 'active', 'expired', 'revoked', 'failed'] as const
export type GrantStatus = (typeof grantStatuses)[number]
export const provisioningStatuses = [
  'not_attempted',
  'attempting',
  'successful',
  'failed',
  'deprovisioning',
  'deprovisioned',
  'deprovisioning_failed',
] as const
export type ProvisioningStatus = (typeof provisioningStatuses)[number]

/** A grant as its request's status view shows it. */
export const GrantView = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    status: OneOf(grantStatuses),
    approved: Type.Boolean(),
    expires_at: Type.Optional(DateTime),
    activated_at: Type.Optional(DateTime),
    provisioning_status: Type.Optional(OneOf(provisioningStatuses)),
    provisioning: Provisioning,
    gone,
    sessions_may_live_until: sessionsMayLiveUntil,
    sessions_note: sessionsNote,
    session_record: SessionRecord,
  },
  { title: 'GrantView' },
)
export type GrantView = Static<typeof GrantView>

/** A grant: its holder, request, place, state at its target, and how to connect while it lasts, if that is known. */
export const Grant = Type.Object(
  {
    ...GrantView.properties,
    request_id: Uuid,
    user_id: Uuid,
    resource: Type.Object({ type: Type.String(), id: Type.String() }),
    action: Type.String(),
    duration_seconds: Type.Integer(),
    ended_at: Type.Optional(DateTime),
    ended_by: Nullable(Uuid),
    end_reason: Nullable(Type.String()),
    last_error: Nullable(Type.String({ description: 'the last error message of the target' })),
    connect: Type.Optional(Connect),
    created_at: DateTime,
    updated_at: DateTime,
  },
  { title: 'Grant' },
)
export type Grant = Static<typeof Grant>

/** The access that its holder has, or is about to have. */
export const LiveGrant = Type.Object(
  { id: Uuid, status: OneOf(['pending', 'active']), expires_at: Nullable(DateTime) },
  {
    title: 'LiveGrant',
    description: 'access of yours to one of these places by this action, the one that ends last; null: none',
  },
)
export type LiveGrant = Static<typeof LiveGrant>

/** A grant with names beside its ids: those of people for everybody who may see the grant. */
export const NamedGrant = Type.Object(
  {
    ...Grant.properties,
    extends: Nullable(Type.String({ format: 'uuid', description: 'the grant whose time it goes on from; null: none' })),
    user_name: Type.String(),
    ended_by_name: Nullable(Type.String({ description: 'null while no person ended it' })),
    resource_name: Nullable(
      Type.String({ description: 'the name of a cached cloud account; null where none is known' }),
    ),
    action_description: ActionDescription,
    provisioner_name: Nullable(
      Type.String({
        description:
          '`sandbox` for the one of the rehearsal, which simulates what no provisioner serves; null until its target is known',
      }),
    ),
    approved_by: Nullable(Type.String({ format: 'uuid', description: 'null where a rule approved the request' })),
    approved_by_name: Nullable(Type.String()),
    break_glass: Type.Boolean({ description: 'whether its request was an emergency' }),
    drifted: Type.Boolean({ description: 'its access was removed at the target by hand while the grant held it' }),
  },
  { title: 'NamedGrant' },
)
export type NamedGrant = Static<typeof NamedGrant>

/** One grant, with what can be done about its end. */
export const GrantDetail = Type.Object(
  {
    ...NamedGrant.properties,
    extended_by: Nullable(
      Type.Object(
        { request_id: Uuid, status: OneOf(['pending', 'approved']), until: Nullable(DateTime) },
        {
          description:
            'the request that extends it: pending, or approved with access that lasts `until` then; null: it is not extended',
        },
      ),
    ),
    extendable: Nullable(
      Type.Object(
        {
          from: Type.String({ ...DateTime, description: 'half of its time is used from then on' }),
          max_duration_seconds: Type.Integer({
            description: 'by how much, at most: with what came before, the tenant’s maximum',
          }),
        },
        {
          description:
            'its holder may ask to extend it; null where it is not active, is extended already, or has reached the tenant’s maximum',
        },
      ),
    ),
  },
  { title: 'GrantDetail' },
)
export type GrantDetail = Static<typeof GrantDetail>

/** A grant's name: the action and the place. A permission set is named by the last part of its name. */
export function grantName(action: string, place: { type: string; id: string; permission_set?: string }): string {
  const set = place.permission_set?.split(':').at(-1)
  return `${set === undefined ? action : `${action} (${set})`} on ${place.type} ${place.id}`
}

/** Whether the actor holds the grant or may read all grants. */
export function maySeeGrant(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  grant: { user_id: string },
): boolean {
  return grant.user_id === actor.user_id || actor.scopes.has('grants:read')
}

/**
 * @throws Problem 403 if the actor neither holds the grant nor may end other users' access, and 404 if they may not even know of it
 */
export function requireMayChange(
  actor: { user_id: string | null; scopes: ReadonlySet<string> },
  grant: { user_id: string },
  doing: 'ending' | 'retrying',
): void {
  if (grant.user_id === actor.user_id || actor.scopes.has('grants:revoke')) return
  if (!maySeeGrant(actor, grant)) throw notFound('grant')
  throw new Problem('forbidden', `${doing} another user’s access needs the scope \`grants:revoke\``)
}

/** The shortest access, and the shortest extension of it. */
export const minSeconds = 60

/** A grant that is not active this long after its approval fails; until then a failed grant may be retried. */
export const activateWithinSeconds = 3_600
