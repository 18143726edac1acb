/**
 * Every event: the audit entry, and what notifications and channels are made from.
 * `filterable` events may be named by a channel's `event_filters`; the rest are for the audit log alone.
 */
export const eventTable = {
  'request.created': { filterable: true, means: 'somebody asked for access' },
  'request.approved': { filterable: true, means: 'a request was approved, by a person or by rule' },
  'request.denied': { filterable: true, means: 'an approver denied a request' },
  'request.expired': { filterable: true, means: 'nobody decided a request in time' },
  'request.cancelled': { filterable: true, means: 'a request was cancelled before it was decided' },
  'request.break_glass': { filterable: true, means: 'emergency access was taken without an approver' },
  'grant.activated': { filterable: true, means: 'the target confirmed that access is there' },
  'grant.expiring': { filterable: true, means: 'access will end soon' },
  'grant.expired': { filterable: true, means: 'access ended on time' },
  'grant.revoked': { filterable: true, means: 'access was ended early' },
  'grant.failed': { filterable: true, means: 'access could not be given, or could not yet be taken away' },
  'policy.created': { filterable: true, means: 'a policy was created' },
  'policy.updated': { filterable: true, means: 'a policy or one of its rules was changed' },
  'policy.deleted': { filterable: true, means: 'a policy was deleted with its rules' },
  'policy.reordered': { filterable: true, means: 'policies or the rules of one were put in another order' },
  'role.assigned': { filterable: true, means: 'a role was given to a user' },
  'user.created': { filterable: true, means: 'a user was created' },
  'api_key.created': { filterable: true, means: 'an API key was made' },
  'api_key.revoked': { filterable: true, means: 'an API key was revoked' },
  'setting.updated': { filterable: true, means: 'a setting was changed' },
  'cloud_accounts.updated': { filterable: true, means: 'entries of the account cache were written' },
  'tenant.created': { filterable: false, means: 'the operator made a tenant' },
  'user.password_reset': { filterable: false, means: 'the operator gave a user a new password' },
  'request.refused': { filterable: false, means: 'policy did not permit what somebody asked for' },
  'access.refused': { filterable: false, means: 'a caller was refused what their credential does not permit' },
  'auth.signed_in': { filterable: false, means: 'a user signed in' },
  'auth.refused': { filterable: false, means: 'a sign-in failed' },
} as const satisfies Record<string, { filterable: boolean; means: string }>

export type EventType = keyof typeof eventTable
