import type * as store from '@aws-sdk/client-identitystore'
import type { Cloud, User } from './cloud.ts'
import { refuse } from './model.ts'
import { page } from './pages.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** The identity store: its users and groups. */
export const directoryHandlers = (cloud: Cloud) =>
  ({
    GetUserId: (input: store.GetUserIdRequest): store.GetUserIdResponse => {
      checkStore(cloud, input.IdentityStoreId)
      const user = [...cloud.users.values()].find((one) => isCalled(one, input.AlternateIdentifier))
      if (user === undefined) throw notFound('')
      return { IdentityStoreId: cloud.identity_store_id, UserId: user.id }
    },

    DescribeUser: (input: store.DescribeUserRequest): store.DescribeUserResponse => {
      checkStore(cloud, input.IdentityStoreId)
      const user = cloud.users.get(input.UserId ?? '')
      if (user === undefined) throw notFound(input.UserId ?? '')
      return shown(cloud, user, input.Extensions)
    },

    ListUsers: (input: store.ListUsersRequest, call: Call): store.ListUsersResponse => {
      checkStore(cloud, input.IdentityStoreId)
      const [filter] = input.Filters ?? []
      if (filter !== undefined && filter.AttributePath !== 'UserName') refuse('identitystore', 'only UserName filters')
      const listed = [...cloud.users.values()].filter(
        ({ user_name }) => filter === undefined || user_name === filter.AttributeValue,
      )
      const { items, NextToken } = page(call, listed, cloud.settings.page)
      return { Users: items.map((user) => shown(cloud, user, input.Extensions)), NextToken }
    },
    ...groupHandlers(cloud),
  }) as const satisfies Handlers

const groupHandlers = (cloud: Cloud) =>
  ({
    ListGroups: (input: store.ListGroupsRequest, call: Call): store.ListGroupsResponse => {
      checkStore(cloud, input.IdentityStoreId)
      if (input.Filters !== undefined) refuse('identitystore', 'groups have no filter here')
      const { items, NextToken } = page(call, [...cloud.groups.values()], cloud.settings.page)
      const { identity_store_id: IdentityStoreId } = cloud
      return { Groups: items.map(({ id, name }) => ({ IdentityStoreId, GroupId: id, DisplayName: name })), NextToken }
    },

    ListGroupMemberships: (
      input: store.ListGroupMembershipsRequest,
      call: Call,
    ): store.ListGroupMembershipsResponse => {
      checkStore(cloud, input.IdentityStoreId)
      const group = cloud.groups.get(input.GroupId ?? '')
      if (group === undefined) throw notFound(input.GroupId ?? '', 'GROUP')
      const { items, NextToken } = page(call, [...group.members], cloud.settings.page)
      const common = { IdentityStoreId: cloud.identity_store_id, GroupId: group.id }
      return {
        GroupMemberships: items.map((UserId) => ({ ...common, MembershipId: UserId, MemberId: { UserId } })),
        NextToken,
      }
    },
  }) as const satisfies Handlers

function checkStore({ identity_store_id }: Cloud, given: string | undefined): void {
  if (given === identity_store_id) return
  throw new AwsError('ResourceNotFoundException', 'IDENTITY_STORE not found.', {
    ResourceType: 'IDENTITY_STORE',
    ResourceId: given,
  })
}

function isCalled(user: User, name: store.AlternateIdentifier | undefined): boolean {
  if (name?.ExternalId !== undefined)
    return user.external_ids.some(({ Issuer, Id }) => Issuer === name.ExternalId.Issuer && Id === name.ExternalId.Id)
  const { AttributePath, AttributeValue } = name?.UniqueAttribute ?? {}
  if (AttributePath !== 'userName' && AttributePath !== 'emails.value')
    refuse('identitystore', `${AttributePath} is no unique attribute`)
  // The directory compares names without regard to case.
  return AttributePath === 'userName' && String(AttributeValue).toLowerCase() === user.user_name.toLowerCase()
}

const notFound = (id: string, ResourceType: 'USER' | 'GROUP' = 'USER'): AwsError =>
  new AwsError('ResourceNotFoundException', `${ResourceType} not found.`, { ResourceType, ResourceId: id })

const enterpriseName = 'aws:identitystore:enterprise'

/** The user with the extensions that the caller asks for. */
function shown(cloud: Cloud, user: User, extensions: readonly string[] = []): store.User {
  if (extensions.some((one) => one !== enterpriseName))
    refuse('identitystore', `the only extension is ${enterpriseName}`)
  const { enterprise, ...more } = user.more
  return {
    IdentityStoreId: cloud.identity_store_id,
    UserId: user.id,
    UserName: user.user_name,
    DisplayName: user.display_name,
    ...(user.external_ids.length > 0 && { ExternalIds: user.external_ids }),
    ...more,
    ...(enterprise !== undefined && extensions.length > 0 && { Extensions: { [enterpriseName]: enterprise as never } }),
  }
}
