export const lived = `
the operator: tenant.created the tenant
the operator: user.created Owner
the operator: api_key.created some api_key
the operator: user.setup_link_created Owner
Owner: auth.signed_in Owner
Owner: setting.updated sign-in
Owner: user.created Olga
the system: user.linked Olga
Olga: auth.signed_in Olga
Olga: user.created Ada
the system: user.linked Ada
Ada: auth.signed_in Ada
Olga: user.created Ben
the system: user.linked Ben
Ben: auth.signed_in Ben
Olga: user.created Cleo
the system: user.linked Cleo
Cleo: auth.signed_in Cleo
Olga: user.created Dora
the system: user.linked Dora
Dora: auth.signed_in Dora
Ada: access.refused listUsers
Olga: role.created Duty officer
Olga: role.updated Duty officer
Olga: role.updated Duty officer
Olga: group.created Engineers
Olga: group.created On duty
Olga: group.member_added Engineers
Olga: group.member_added Engineers
Olga: group.member_added On duty
Ben: access.refused approveRequest
Olga: group.role_mappings_changed On duty
Olga: role.assigned Dora
Olga: cloud_accounts.updated the tenant
Olga: policy.updated Approvers
Olga: policy.created Every day
Olga: policy.created Guard rails
Olga: policy.updated Every day
Olga: policy.updated Every day
Olga: policy.updated Every day
Olga: policy.updated Guard rails
Olga: policy.updated Guard rails
Olga: policy.reordered the tenant
Olga: policy.reordered Every day
Ada: request.refused some decision
Olga: request.refused some decision
Ada: request.created Ada’s change
Ada: access.refused approveRequest
Olga: access.refused Ada’s change
Ben: request.approved Ada’s change
the system: grant.activated Ada’s grant
Ben: access.refused revokeGrant
Olga: grant.revoked Ada’s grant
Cleo: request.created Cleo’s change
Cleo: request.created Cleo’s look
the system: request.approved Cleo’s look
the system: grant.activated Cleo’s grant
Olga: user.deactivated Cleo
Olga: request.cancelled Cleo’s change
Olga: grant.revoked Cleo’s grant
the system: auth.refused the tenant
Olga: api_key.created the key
Olga by the key: setting.updated requests.max_duration_seconds
Olga by the key: access.refused listUsers
Olga: api_key.revoked the key
Ada: user.updated Ada`
