import type * as org from '@aws-sdk/client-organizations'
import type { Account, Cloud, Unit } from './cloud.ts'
import { page } from './pages.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** The organization: its accounts and organizational units. */
export const organizationHandlers = (cloud: Cloud) =>
  ({
    DescribeOrganization: (): org.DescribeOrganizationResponse => {
      const { organization_id, management_account } = cloud
      const arn = `arn:aws:organizations::${management_account}:organization/${organization_id}`
      const Organization = {
        Id: organization_id,
        Arn: arn,
        FeatureSet: 'ALL',
        MasterAccountId: management_account,
      } as const
      return { Organization }
    },

    DescribeAccount: (input: org.DescribeAccountRequest): org.DescribeAccountResponse => {
      const account = cloud.accounts.get(input.AccountId ?? '')
      if (account === undefined)
        throw new AwsError(
          'AccountNotFoundException',
          "You specified an account that doesn't exist in your organization.",
        )
      return { Account: shown(cloud, account) }
    },

    ListAccounts: (_input: org.ListAccountsRequest, call: Call): org.ListAccountsResponse => {
      const { items, NextToken } = page(call, [...cloud.accounts.values()], most(cloud))
      return { Accounts: items.map((one) => shown(cloud, one)), NextToken }
    },

    ListAccountsForParent: (input: org.ListAccountsForParentRequest, call: Call): org.ListAccountsForParentResponse => {
      checkParent(cloud, input.ParentId)
      const { items, NextToken } = page(call, below(cloud.accounts, input.ParentId), most(cloud))
      return { Accounts: items.map((one) => shown(cloud, one)), NextToken }
    },
    ...treeHandlers(cloud),
  }) as const satisfies Handlers

const treeHandlers = (cloud: Cloud) =>
  ({
    ListRoots: (_input: org.ListRootsRequest, call: Call): org.ListRootsResponse => {
      const { items, NextToken } = page(call, [{ Id: cloud.root_id, Name: 'Root' }], most(cloud))
      return { Roots: items, NextToken }
    },

    ListChildren: (input: org.ListChildrenRequest, call: Call): org.ListChildrenResponse => {
      checkParent(cloud, input.ParentId)
      const children = below(input.ChildType === 'ACCOUNT' ? cloud.accounts : cloud.units, input.ParentId)
      const { items, NextToken } = page(call, children, most(cloud))
      return { Children: items.map(({ id }) => ({ Id: id, Type: input.ChildType })), NextToken }
    },

    ListParents: (input: org.ListParentsRequest): org.ListParentsResponse => {
      const child = cloud.accounts.get(input.ChildId ?? '') ?? cloud.units.get(input.ChildId ?? '')
      if (child === undefined)
        throw new AwsError('ChildNotFoundException', "You specified a child that doesn't exist in this organization.")
      return { Parents: [{ Id: child.parent, Type: child.parent === cloud.root_id ? 'ROOT' : 'ORGANIZATIONAL_UNIT' }] }
    },

    ListOrganizationalUnitsForParent: (
      input: org.ListOrganizationalUnitsForParentRequest,
      call: Call,
    ): org.ListOrganizationalUnitsForParentResponse => {
      checkParent(cloud, input.ParentId)
      const { items, NextToken } = page(call, below(cloud.units, input.ParentId), most(cloud))
      return { OrganizationalUnits: items.map((one) => shownUnit(cloud, one)), NextToken }
    },

    ListTagsForResource: (input: org.ListTagsForResourceRequest, call: Call): org.ListTagsForResourceResponse => {
      const { ResourceId = '' } = input
      const { accounts, units, root_id } = cloud
      if (!accounts.has(ResourceId) && !units.has(ResourceId) && ResourceId !== root_id)
        throw new AwsError('TargetNotFoundException', "You specified a target that doesn't exist.")
      const tags = [...(accounts.get(ResourceId)?.tags ?? [])].map(([Key, Value]) => ({ Key, Value }))
      const { items, NextToken } = page(call, tags, most(cloud))
      return { Tags: items, NextToken }
    },

    DescribeOrganizationalUnit: (
      input: org.DescribeOrganizationalUnitRequest,
    ): org.DescribeOrganizationalUnitResponse => {
      const unit = cloud.units.get(input.OrganizationalUnitId ?? '')
      if (unit === undefined)
        throw new AwsError(
          'OrganizationalUnitNotFoundException',
          "You specified an organizational unit that doesn't exist.",
        )
      return { OrganizationalUnit: shownUnit(cloud, unit) }
    },
  }) as const satisfies Handlers

/** Its pages hold at most 20. */
const most = ({ settings }: Cloud): number => Math.min(settings.page, 20)

function checkParent({ root_id, units }: Cloud, id: string | undefined): void {
  if (id !== root_id && !units.has(id ?? ''))
    throw new AwsError(
      'ParentNotFoundException',
      `You specified a root or organizational unit that doesn't exist: ${id}`,
    )
}

const below = <One extends { id: string; parent: string }>(
  all: ReadonlyMap<string, One>,
  id: string | undefined,
): One[] => [...all.values()].filter(({ parent }) => parent === id)

const shown = ({ management_account, organization_id }: Cloud, { id, name, status }: Account): org.Account => ({
  Id: id,
  Arn: `arn:aws:organizations::${management_account}:account/${organization_id}/${id}`,
  Email: `${id}@example.com`,
  Name: name,
  State: status,
  JoinedMethod: 'CREATED',
})

const shownUnit = ({ management_account, organization_id }: Cloud, { id, name }: Unit): org.OrganizationalUnit => ({
  Id: id,
  Arn: `arn:aws:organizations::${management_account}:ou/${organization_id}/${id}`,
  Name: name,
})
