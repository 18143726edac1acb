/** What the role of an organization allows Sallyport to do, and who may assume it. The guide shows the same. */
import type { CenterConfig } from './center-config.ts'

/** Each call that giving, removing and reading access makes, and reading what the organization says of itself. */
const roleActions = [
  'identitystore:GetUserId',
  'identitystore:ListGroupMemberships',
  'identitystore:ListGroups',
  'identitystore:ListUsers',
  'organizations:DescribeAccount',
  'organizations:ListAccountsForParent',
  'organizations:ListOrganizationalUnitsForParent',
  'organizations:ListRoots',
  'organizations:ListTagsForResource',
  'sso:CreateAccountAssignment',
  'sso:CreatePermissionSet',
  'sso:DeleteAccountAssignment',
  'sso:DeletePermissionSet',
  'sso:DescribeAccountAssignmentCreationStatus',
  'sso:DescribeAccountAssignmentDeletionStatus',
  'sso:DescribePermissionSet',
  'sso:DescribePermissionSetProvisioningStatus',
  'sso:GetInlinePolicyForPermissionSet',
  'sso:ListAccountAssignments',
  'sso:ListAccountAssignmentsForPrincipal',
  'sso:ListAccountsForProvisionedPermissionSet',
  'sso:ListInstances',
  'sso:ListManagedPoliciesInPermissionSet',
  'sso:ListPermissionSets',
  'sso:ListTagsForResource',
  'sso:ProvisionPermissionSet',
  'sso:PutInlinePolicyToPermissionSet',
  'sso:TagResource',
] as const

/** What `cut_sessions` needs beside. */
const cutActions = ['sso:DeleteInlinePolicyFromPermissionSet'] as const

/** The policy of the role. */
export function rolePolicy({ cut_sessions }: Pick<CenterConfig, 'cut_sessions'>): object {
  const Action = cut_sessions ? [...roleActions, ...cutActions].sort() : roleActions
  return { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, Resource: '*' }] }
}

/** Whom the role trusts: Sallyport's own identity, with this provisioner's external id. */
export function trustPolicy(identity: string, external_id: string): object {
  const { principal, conditions } = trusted(identity)
  const Condition = { StringEquals: { 'sts:ExternalId': external_id }, ...conditions }
  const statement = { Effect: 'Allow', Principal: { AWS: principal }, Action: 'sts:AssumeRole', Condition }
  return { Version: '2012-10-17', Statement: [statement] }
}

/**
 * The ARN of a role's session does not say the path of the role, and a principal with another path is another role. So the role is named by a
 * condition that fits it at any path.
 */
function trusted(identity: string): { principal: string; conditions?: object } {
  const [, partition, account, name] = /^arn:([a-z-]+):sts::(\d{12}):assumed-role\/([^/]+)\/[^/]+$/.exec(identity) ?? []
  if (name === undefined) return { principal: identity }
  const role = `arn:${partition}:iam::${account}:role`
  return {
    principal: `arn:${partition}:iam::${account}:root`,
    conditions: { ArnLike: { 'aws:PrincipalArn': [`${role}/${name}`, `${role}/*/${name}`] } },
  }
}
