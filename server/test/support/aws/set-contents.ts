import type * as sso from '@aws-sdk/client-sso-admin'
import { checkInstance } from './acts.ts'
import { type Cloud, isListed, type PermissionSet } from './cloud.ts'
import { page } from './pages.ts'
import { findSet } from './permission-sets.ts'
import { checkPolicy, inAnotherForm } from './policies.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

export const setContentHandlers = (cloud: Cloud) =>
  ({
    PutInlinePolicyToPermissionSet: (
      input: sso.PutInlinePolicyToPermissionSetRequest,
    ): sso.PutInlinePolicyToPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      checkPolicy(input.InlinePolicy ?? '')
      findSet(cloud, input.PermissionSetArn).contents.inline_policy = input.InlinePolicy ?? ''
      return {}
    },

    GetInlinePolicyForPermissionSet: (
      input: sso.GetInlinePolicyForPermissionSetRequest,
    ): sso.GetInlinePolicyForPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const { inline_policy } = findSet(cloud, input.PermissionSetArn).contents
      return { InlinePolicy: cloud.settings.policies === 'as put' ? inline_policy : inAnotherForm(inline_policy) }
    },

    DeleteInlinePolicyFromPermissionSet: (
      input: sso.DeleteInlinePolicyFromPermissionSetRequest,
    ): sso.DeleteInlinePolicyFromPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      findSet(cloud, input.PermissionSetArn).contents.inline_policy = ''
      return {}
    },

    ...managedHandlers(cloud),
    ...provisionedHandlers(cloud),
  }) as const satisfies Handlers

const managedHandlers = (cloud: Cloud) =>
  ({
    AttachManagedPolicyToPermissionSet: (
      input: sso.AttachManagedPolicyToPermissionSetRequest,
    ): sso.AttachManagedPolicyToPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const { managed } = findSet(cloud, input.PermissionSetArn).contents
      const arn = input.ManagedPolicyArn ?? ''
      if (managed.includes(arn)) throw new AwsError('ConflictException', `Policy ${arn} is attached already`)
      if (managed.length >= 10) throw new AwsError('ServiceQuotaExceededException', 'at most 10 managed policies')
      managed.push(arn)
      return {}
    },

    ListManagedPoliciesInPermissionSet: (
      input: sso.ListManagedPoliciesInPermissionSetRequest,
      call: Call,
    ): sso.ListManagedPoliciesInPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const { managed } = findSet(cloud, input.PermissionSetArn).contents
      const { items, NextToken } = page(call, managed, cloud.settings.page)
      return { AttachedManagedPolicies: items.map((arn) => ({ Arn: arn, Name: arn.replace(/.*\//, '') })), NextToken }
    },
  }) as const satisfies Handlers

const provisionedHandlers = (cloud: Cloud) =>
  ({
    ListAccountsForProvisionedPermissionSet: (
      input: sso.ListAccountsForProvisionedPermissionSetRequest,
      call: Call,
    ): sso.ListAccountsForProvisionedPermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const set = findSet(cloud, input.PermissionSetArn)
      const listed = [...set.provisioned.keys()].filter((id) => fits(set, id, input.ProvisioningStatus))
      const { items, NextToken } = page(call, listed, cloud.settings.page)
      return { AccountIds: items, NextToken }
    },

    ListPermissionSetsProvisionedToAccount: (
      input: sso.ListPermissionSetsProvisionedToAccountRequest,
      call: Call,
    ): sso.ListPermissionSetsProvisionedToAccountResponse => {
      checkInstance(cloud, input.InstanceArn)
      const listed = [...cloud.sets.values()].filter(
        (set) => isListed(cloud, set.created) && fits(set, input.AccountId ?? '', input.ProvisioningStatus),
      )
      const { items, NextToken } = page(
        call,
        listed.map(({ arn }) => arn),
        cloud.settings.page,
      )
      return { PermissionSets: items, NextToken }
    },
  }) as const satisfies Handlers

/** Whether the set's role in an account has the current content of the set, or an older one. */
function fits(set: PermissionSet, account: string, wanted: sso.ProvisioningStatus | undefined): boolean {
  const there = set.provisioned.get(account)
  if (there === undefined) return false
  const latest = JSON.stringify(there) === JSON.stringify(set.contents)
  return wanted === undefined || latest === (wanted === 'LATEST_PERMISSION_SET_PROVISIONED')
}
