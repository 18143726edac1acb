/**
 * Every event: the audit entry, and the source of notifications and channel messages.
 * A channel's `event_filters` may name `filterable` events; the others are only for the audit log.
 */
export const eventTable = {
  'request.created': { filterable: true, means: 'a user requested access' },
  'request.approved': { filterable: true, means: 'a request was approved, by a person or by a rule' },
  'request.denied': { filterable: true, means: 'an approver denied a request' },
  'request.expired': { filterable: true, means: 'a request was not decided in time' },
  'request.cancelled': { filterable: true, means: 'a request was cancelled before it was decided' },
  'request.commented': {
    filterable: true,
    means: 'the requester, or a user who may decide the request, commented on it; `comment_id` names the comment',
  },
  'request.reminded': {
    filterable: true,
    means: 'a request is still pending: its approvers are reminded, by its requester or by the service',
  },
  'request.unapprovable': { filterable: true, means: 'a request was created that nobody may approve' },
  'request.break_glass': { filterable: true, means: 'emergency access was taken without an approver' },
  'grant.activated': { filterable: true, means: 'the target confirmed that it holds the access' },
  'grant.expiring': { filterable: true, means: 'access will end soon; at most twice for a grant' },
  'grant.expired': { filterable: true, means: 'access ended on time' },
  'grant.revoked': { filterable: true, means: 'access was ended early' },
  'grant.failed': { filterable: true, means: 'access could not be given, or could not be revoked yet' },
  'grant.drifted': {
    filterable: true,
    means:
      'access was removed at its target by hand, or added again after its end, or what Sallyport made there for it was changed: `drift` is `removed`, `added` or `changed`',
  },
  'grant.credentials_issued': {
    filterable: true,
    means: 'the holder received a new password of the login that was made for the grant: `login` names it',
  },
  'grant.objects_left': {
    filterable: true,
    means:
      'the access has ended, and what its holder made at the target stays there: `objects` names some of the `total` by kind and name',
  },
  'provisioner.drifted': {
    filterable: true,
    means:
      'a target holds access with the mark of Sallyport that no grant of the ledger gave: `found` counts it, `ours` what an earlier epoch of this installation gave',
  },
  'provisioner.orphans_held_back': {
    filterable: true,
    means:
      'a sweep found more access of an earlier epoch than it ends by itself: `found` and `limit` count it, and a person ends each',
  },
  'provisioner.orphan_ending': {
    filterable: true,
    means:
      'access is being ended that an earlier epoch of this installation gave and whose grant is lost: by a sweep, or by a user; `key` names it',
  },
  'provisioner.orphan_ended': {
    filterable: true,
    means: 'access whose grant was lost is gone from its target; `key` names it',
  },
  'policy.created': { filterable: true, means: 'a policy was created' },
  'policy.updated': { filterable: true, means: 'a policy or one of its rules was changed' },
  'policy.deleted': { filterable: true, means: 'a policy was deleted with its rules' },
  'policy.rule_texts': {
    filterable: false,
    means: 'what rules said, `before` and `after`, that were created, changed, imported or deleted',
  },
  'policy.reordered': { filterable: true, means: 'policies or the rules of a policy were reordered' },
  'policy.cases_changed': { filterable: true, means: 'the policy cases were changed' },
  'action.described': {
    filterable: true,
    means: 'an action was described, or its description was changed: `old` and `new`',
  },
  'action.description_removed': {
    filterable: true,
    means: 'the description of an action was removed; `old` is what it was',
  },
  'role.created': { filterable: true, means: 'a role was created' },
  'role.updated': { filterable: true, means: 'a role was changed' },
  'role.deleted': { filterable: true, means: 'a role that no user had was deleted' },
  'role.assigned': { filterable: true, means: 'roles of a user were added or removed' },
  'group.created': { filterable: true, means: 'a group was created' },
  'group.updated': {
    filterable: true,
    means:
      'the name or the description of a group was changed, or whether its members are notified (`members_notified`)',
  },
  'group.deleted': { filterable: true, means: 'a group was deleted; its members lost the roles that it gave' },
  'group.member_added': { filterable: true, means: 'a user became a member of a group' },
  'group.member_removed': { filterable: true, means: 'a user is no longer a member of a group' },
  'group.role_mappings_changed': { filterable: true, means: 'the roles that a group gives its members were changed' },
  'user.created': { filterable: true, means: 'a user was created' },
  'user.invited': {
    filterable: true,
    means: 'a link was made by which the person that a user was made for can join; the links before it have ended',
  },
  'user.invitation_revoked': {
    filterable: true,
    means: 'the link of an invited user was ended: by an administrator, or because the user was stopped or deleted',
  },
  'user.joined': {
    filterable: true,
    means: 'an invited user used the link: `way` is `password`, or `provider` if the sign-in there is still to come',
  },
  'user.linked': {
    filterable: true,
    means: 'a user who was created for a provider signed in there for the first time; with the account and its address',
  },
  'user.updated': {
    filterable: true,
    means:
      'the name, the profile, the department, the title or the manager of a user was changed, or a provider verified their address',
  },
  'user.deactivated': { filterable: true, means: 'a user was deactivated; their requests and access have ended' },
  'user.reactivated': { filterable: true, means: 'a deactivated user was reactivated' },
  'user.suspended': {
    filterable: true,
    means: 'a user was suspended for 24 hours; their requests and access have ended',
  },
  'user.unsuspended': { filterable: true, means: 'the suspension of a user was ended early' },
  'user.access_ended': {
    filterable: true,
    means: 'all requests and access of a user were ended at once; the user stays active',
  },
  'user.refresh_token_reused': {
    filterable: true,
    means: 'a used refresh token of a user came again, later or from elsewhere; the session that it was of has ended',
  },
  'user.removal_refused': {
    filterable: true,
    means: 'a directory tried to deactivate or delete the last active owner, and was refused; emitted once a day',
  },
  'user.deleted': { filterable: true, means: 'a user was deleted; their requests and access have ended' },
  'api_key.created': { filterable: true, means: 'an API key was created' },
  'api_key.revoked': { filterable: true, means: 'an API key was revoked' },
  'setting.updated': { filterable: true, means: 'a setting was changed' },
  'cloud_accounts.updated': {
    filterable: true,
    means:
      'entries of the account cache were written, or those of the rehearsal removed (`removed`); `changed` names those in which something changed',
  },
  'cloud_accounts.discovered': {
    filterable: true,
    means:
      'the inventory of a provisioner changed entries of the account cache, which rules read: `added`, `changed` and `removed` count them',
  },
  'notification_channel.created': { filterable: true, means: 'a notification channel was created' },
  'notification_channel.updated': { filterable: true, means: 'a notification channel was changed' },
  'notification_channel.deleted': { filterable: true, means: 'a notification channel was deleted' },
  'notification_channel.disabled': {
    filterable: true,
    means: 'a receiver reported that it is permanently gone: its channel was disabled',
  },
  'notification_channel.secret_rotated': { filterable: true, means: 'the signing secret of a webhook was replaced' },
  'identity_provider.created': { filterable: true, means: 'an identity provider was set up' },
  'identity_provider.updated': { filterable: true, means: 'an identity provider was changed' },
  'identity_provider.deleted': { filterable: true, means: 'an identity provider was deleted, its SCIM keys revoked' },
  'identity_provider.conflict_found': {
    filterable: true,
    means: 'a directory has a person whose address or user name a user here has: a person decides whether they are one',
  },
  'identity_provider.conflict_settled': {
    filterable: true,
    means:
      'a person decided who a user of a directory is: `user_id`, whom the directory manages from then on, or nobody here (null)',
  },
  'identity_provider.mass_removal': {
    filterable: true,
    means:
      'a directory removes more than 20 % of its users, within an hour or at once in a run: `removed` of `size`; `refused` says whether it was stopped, and `run_id` which sync run was, for as many `groups` of `groups_before` too',
  },
  'identity_provider.sync_requested': {
    filterable: true,
    means: 'a person had a directory read; `confirms` names the run whose removals they confirmed',
  },
  'identity_provider.synced': {
    filterable: true,
    means: 'a directory was read, and something changed here: `counts` says what',
  },
  'identity_provider.sync_failed': {
    filterable: true,
    means: 'a directory could not be read: `error` says why; emitted once until a run succeeds',
  },
  'provisioner.contested': {
    filterable: true,
    means:
      'another Sallyport, or another copy of this one, acts at the target of a provisioner: nothing is done there; `holder_installation` names it',
  },
  'provisioner.claimed': {
    filterable: true,
    means: 'a target at which another acted is held again: access is given and ended there',
  },
  'provisioner.created': { filterable: true, means: 'a provisioner was set up: access can be given there' },
  'provisioner.updated': { filterable: true, means: 'a provisioner, or the resources that it serves, were changed' },
  'provisioner.deleted': { filterable: true, means: 'a provisioner with no access left at its target was deleted' },
  'provisioner.tested': { filterable: true, means: 'a provisioner was tested; `ok` is the result' },
  'provisioner.secret_rotated': {
    filterable: true,
    means: 'the secrets that Sallyport generated for a target were replaced',
  },
  'notification_channel.tested': { filterable: false, means: 'a user had a channel send a test message' },
  'notification_channel.resent': { filterable: false, means: 'a user had a message of a channel sent again' },
  'policy.replayed': { filterable: false, means: 'a user replayed earlier requests against draft policies' },
  'tenant.created': { filterable: false, means: 'the operator created a tenant' },
  'tenant.renamed': { filterable: false, means: 'the first owner gave the tenant its name' },
  'tenant.went_live': {
    filterable: false,
    means:
      'a tenant ended its rehearsal: what it grants is real from now on; `removed` lists what the rehearsal had made',
  },
  'tenant.rehearsal_created': {
    filterable: false,
    means:
      'an owner created the colleagues, the accounts and the policy of the rehearsal, or those of them that were missing',
  },
  'user.rehearsal_token_created': {
    filterable: false,
    means:
      'an owner received a token of 15 minutes for a person of the rehearsal: in the session `sid`, the owner acts',
  },
  'tenant.suspended': {
    filterable: false,
    means:
      'the operator suspended a tenant: its credentials are of no use, and nothing new is given; `reason` if one was given',
  },
  'tenant.resumed': { filterable: false, means: 'the operator ended the suspension of a tenant' },
  'tenant.slug_set': { filterable: false, means: 'the operator gave a tenant a slug' },
  'tenant.slug_removed': { filterable: false, means: 'the operator removed the slug of a tenant' },
  'tenant.events_dropped': {
    filterable: false,
    means:
      'the operator dropped old events of the audit log: the `quarter`, how many `events`, and the last one, `last_event_id`',
  },
  'tenant.mail_domain_added': { filterable: false, means: 'the operator allowed a tenant to send mail from a domain' },
  'tenant.mail_domain_removed': { filterable: false, means: 'the operator removed a mail domain of a tenant' },
  'user.setup_link_created': { filterable: false, means: 'a setup link for the first owner was made' },
  'user.set_up': {
    filterable: false,
    means: 'the first owner used the setup link: name, address and password are their own, former sessions have ended',
  },
  'user.password_reset': { filterable: false, means: 'the operator gave a user a new password' },
  'user.password_changed': { filterable: false, means: 'a user changed their own password' },
  'user.second_factor_added': { filterable: false, means: 'a user added a second factor to their own sign-in' },
  'user.second_factor_removed': { filterable: false, means: 'a user removed one of their second factors' },
  'user.recovery_codes_replaced': { filterable: false, means: 'a user replaced their recovery codes' },
  'user.second_factors_reset': {
    filterable: false,
    means: 'the second factors of a user were removed by an administrator or the operator',
  },
  'grant.end_moved': {
    filterable: false,
    means:
      'the end of access moved to an earlier moment since the database’s clock was set back by `clock_back_seconds`: access lasts as long as it was given for',
  },
  'grant.retried': { filterable: false, means: 'access that could not be given is retried' },
  'request.refused': { filterable: false, means: 'policy did not permit the access that a user requested' },
  'access.refused': {
    filterable: false,
    means: 'a caller was refused an operation that their credential does not permit',
  },
  'auth.signed_in': { filterable: false, means: 'a user signed in' },
  'auth.second_factor_required': {
    filterable: false,
    means: 'the password of a sign-in was right, and the second factor is still to come',
  },
  'auth.refused': { filterable: false, means: 'a sign-in failed' },
  'auth.session_started': {
    filterable: false,
    means: 'a browser or a program received the session of a sign-in, to stay signed in',
  },
  'auth.refreshed': { filterable: false, means: 'a program exchanged its refresh token for the next one' },
  'auth.signed_out': {
    filterable: false,
    means: 'sessions of a user were ended, by the user or by their provider; `cause` is the reason',
  },
} as const satisfies Record<string, { filterable: boolean; means: string }>

export type EventType = keyof typeof eventTable

/** The events that channels can receive. */
export type FilterableEvent = {
  [Type in EventType]: (typeof eventTable)[Type]['filterable'] extends true ? Type : never
}[EventType]
