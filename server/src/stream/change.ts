import { Type } from 'typebox'
import type { EventType } from '../events/catalogue.ts'
import { Nullable } from '../http/schema.ts'
import type { Actor, RecordChange, RecordedChanges } from '../kernel/context.ts'
import type { Scope } from '../permissions/permission.ts'

/** The types of record that a stream reports, each with the scope that lets a caller read all records of the type. */
export const readScopes = {
  request: 'requests:read',
  grant: 'grants:read',
  policy: 'policies:read',
  policy_case: 'policies:read',
  action: 'policies:read',
  role: 'roles:read',
  user: 'users:read',
  group: 'groups:read',
  api_key: 'api_keys:read',
  setting: 'settings:read',
  cloud_account: 'cloud_accounts:read',
  notification_channel: 'notification_channels:read',
  identity_provider: 'identity_providers:read',
  provisioner: 'provisioners:read',
} as const satisfies Record<string, Scope>

export type RecordType = keyof typeof readScopes

/** The record that each event changes; null: none that a stream reports. */
export const changedRecords: Readonly<Record<EventType, RecordType | null>> = {
  'request.created': 'request',
  'request.approved': 'request',
  'request.denied': 'request',
  'request.expired': 'request',
  'request.cancelled': 'request',
  'request.break_glass': 'request',
  'request.commented': 'request',
  'request.reminded': 'request',
  'grant.activated': 'grant',
  'grant.expired': 'grant',
  'grant.revoked': 'grant',
  'grant.failed': 'grant',
  'grant.drifted': 'grant',
  'grant.credentials_issued': 'grant',
  'grant.objects_left': 'grant',
  'grant.end_moved': 'grant',
  'grant.retried': 'grant',
  'provisioner.drifted': 'provisioner',
  'provisioner.orphans_held_back': 'provisioner',
  'provisioner.orphan_ending': 'provisioner',
  'provisioner.orphan_ended': 'provisioner',
  'provisioner.contested': 'provisioner',
  'provisioner.claimed': 'provisioner',
  'policy.created': 'policy',
  'policy.updated': 'policy',
  'policy.deleted': 'policy',
  'policy.rule_texts': 'policy',
  'policy.reordered': 'policy',
  'policy.cases_changed': 'policy_case',
  'action.described': 'action',
  'action.description_removed': 'action',
  'role.created': 'role',
  'role.updated': 'role',
  'role.deleted': 'role',
  'role.assigned': 'user',
  'group.created': 'group',
  'group.updated': 'group',
  'group.deleted': 'group',
  'group.member_added': 'group',
  'group.member_removed': 'group',
  'group.role_mappings_changed': 'group',
  'user.created': 'user',
  'user.invited': 'user',
  'user.invitation_revoked': 'user',
  'user.joined': 'user',
  'user.linked': 'user',
  'user.updated': 'user',
  'user.deactivated': 'user',
  'user.reactivated': 'user',
  'user.suspended': 'user',
  'user.removal_refused': null,
  'user.unsuspended': 'user',
  'user.refresh_token_reused': null,
  'user.deleted': 'user',
  'user.set_up': 'user',
  'api_key.created': 'api_key',
  'api_key.revoked': 'api_key',
  'setting.updated': 'setting',
  'cloud_accounts.updated': 'cloud_account',
  'cloud_accounts.discovered': 'cloud_account',
  'notification_channel.created': 'notification_channel',
  'notification_channel.updated': 'notification_channel',
  'notification_channel.deleted': 'notification_channel',
  'notification_channel.disabled': 'notification_channel',
  'notification_channel.secret_rotated': 'notification_channel',
  'identity_provider.created': 'identity_provider',
  'identity_provider.updated': 'identity_provider',
  'identity_provider.deleted': 'identity_provider',
  'identity_provider.conflict_found': 'identity_provider',
  'identity_provider.conflict_settled': 'identity_provider',
  'identity_provider.mass_removal': 'identity_provider',
  'identity_provider.sync_requested': 'identity_provider',
  'identity_provider.synced': 'identity_provider',
  'identity_provider.sync_failed': 'identity_provider',
  'provisioner.created': 'provisioner',
  'provisioner.updated': 'provisioner',
  'provisioner.deleted': 'provisioner',
  'provisioner.tested': 'provisioner',
  'provisioner.secret_rotated': 'provisioner',
  // The record stays as it was.
  'request.unapprovable': null,
  'request.refused': null,
  'grant.expiring': null,
  'user.access_ended': null,
  'notification_channel.tested': null,
  'notification_channel.resent': null,
  'policy.replayed': null,
  // No record that has a scope to read it shows these.
  'tenant.created': null,
  'tenant.renamed': null,
  'tenant.went_live': null,
  'tenant.rehearsal_created': null,
  'user.rehearsal_token_created': null,
  'tenant.suspended': null,
  'tenant.resumed': null,
  'tenant.slug_set': null,
  'tenant.slug_removed': null,
  'tenant.events_dropped': null,
  'tenant.mail_domain_added': null,
  'tenant.mail_domain_removed': null,
  'user.setup_link_created': null,
  'user.password_reset': null,
  'user.password_changed': null,
  'user.second_factor_added': null,
  'user.second_factor_removed': null,
  'user.recovery_codes_replaced': null,
  'user.second_factors_reset': null,
  'access.refused': null,
  'auth.signed_in': null,
  'auth.second_factor_required': null,
  'auth.refused': null,
  'auth.session_started': null,
  'auth.refreshed': null,
  'auth.signed_out': null,
}

/** An event without its content. `owner`: the requester or the holder. `grants`: those that an approval created. */
export type EventSubject = {
  type: EventType
  subject_type: string
  subject_id: string
  owner: string | null
  grants: readonly string[] | null
}

const none: readonly RecordChange[] = []

/** The records that an event changed. An event about the tenant changed several records of one type: it names none. */
export function changesOf({ type, subject_type, subject_id, owner, grants }: EventSubject): readonly RecordChange[] {
  const record = changedRecords[type]
  if (record === null) return none
  const id = subject_type === record ? subject_id : null
  const given = (grants ?? []).map((grant_id) => ({ type: 'grant', id: grant_id, owner, scope: readScopes.grant }))
  return [{ type: record, id, owner, scope: readScopes[record] }, ...given]
}

/** A caller sees the changes of their own requests and grants, and of every record that one of their scopes lets them read. */
export function maySeeChange({ user_id, scopes }: Pick<Actor, 'user_id' | 'scopes'>, change: RecordChange): boolean {
  return (change.owner !== null && change.owner === user_id) || scopes.has(change.scope)
}

/** What a stream says of a changed record: that it changed, and nothing else. */
export const RecordHint = Type.Object(
  {
    type: Type.Unsafe<string>({ type: 'string', enum: Object.keys(readScopes) }),
    id: Nullable(Type.String({ description: 'null: several records of the type may have changed' })),
  },
  { title: 'RecordHint' },
)
export type RecordHint = { type: string; id: string | null }

/**
 * One hint for each record that changed and that the actor may see, in the order of the last changes. `mark`: the place that a
 * client has reached with this hint; undefined while more hints of the same event follow.
 */
export function hintsOf(
  events: readonly RecordedChanges[],
  actor: Pick<Actor, 'user_id' | 'scopes'>,
): { hint: RecordHint; mark: string | undefined }[] {
  const byRecord = new Map<string, { hint: RecordHint; mark: string }>()
  for (const { mark, changes } of events) {
    for (const change of changes.filter((one) => maySeeChange(actor, one))) {
      const key = `${change.type} ${change.id}`
      byRecord.delete(key)
      byRecord.set(key, { hint: { type: change.type, id: change.id }, mark })
    }
  }
  const hints = [...byRecord.values()]
  return hints.map(({ hint, mark }, index) => ({ hint, mark: hints[index + 1]?.mark === mark ? undefined : mark }))
}
