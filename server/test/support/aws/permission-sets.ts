import type * as sso from '@aws-sdk/client-sso-admin'
import { checkInstance, goingOn, inTheWay } from './acts.ts'
import { type Cloud, hex, nowIn, type PermissionSet, shows } from './cloud.ts'
import { refuse } from './model.ts'
import { page } from './pages.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

/** @throws AwsError if there is no such set */
export function findSet(cloud: Cloud, arn: string | undefined): PermissionSet {
  const set = cloud.sets.get(arn ?? '')
  if (set === undefined || set.deleted !== null)
    throw new AwsError('ResourceNotFoundException', `PermissionSet not found: ${arn}`)
  return set
}

export const permissionSetHandlers = (cloud: Cloud) =>
  ({
    ListInstances: (_input: sso.ListInstancesRequest, call: Call): sso.ListInstancesResponse => {
      const { instance_arn, identity_store_id, management_account } = cloud
      const one = { InstanceArn: instance_arn, IdentityStoreId: identity_store_id, OwnerAccountId: management_account }
      // An account of the organization may have an instance of its own, beside that of the organization.
      const own = { ...one, InstanceArn: `${instance_arn.slice(0, -4)}0000`, IdentityStoreId: 'd-0000000000' }
      const all = [one, own]
        .slice(0, cloud.settings.instances)
        .map((found) => ({ ...found, Status: 'ACTIVE' as const }))
      const { items, NextToken } = page(call, all, cloud.settings.page)
      return { Instances: items, NextToken }
    },

    CreatePermissionSet: (input: sso.CreatePermissionSetRequest): sso.CreatePermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      checkDuration(input.SessionDuration)
      const live = [...cloud.sets.values()].filter(({ deleted }) => deleted === null)
      if (live.some(({ name }) => name === input.Name))
        throw new AwsError('ConflictException', `PermissionSet with name ${input.Name} already exists.`)
      if (live.length >= cloud.settings.maxSets)
        throw new AwsError('ServiceQuotaExceededException', 'You have exceeded the number of permission sets')
      const set: PermissionSet = {
        arn: `${cloud.instance_arn.replace(':instance/', ':permissionSet/')}/ps-${hex(16)}`,
        name: input.Name ?? '',
        description: input.Description,
        relay_state: input.RelayState,
        contents: { inline_policy: '', session_duration: input.SessionDuration ?? 'PT1H', managed: [] },
        tags: new Map(),
        made_at: new Date(),
        created: nowIn(cloud),
        deleted: null,
        provisioned: new Map(),
        roles: new Map(),
      }
      tag(set, input.Tags ?? [])
      cloud.sets.set(set.arn, set)
      return { PermissionSet: shown(set) }
    },

    DescribePermissionSet: (input: sso.DescribePermissionSetRequest): sso.DescribePermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      return { PermissionSet: shown(findSet(cloud, input.PermissionSetArn)) }
    },
    ...keepHandlers(cloud),
    ...tagHandlers(cloud),
  }) as const satisfies Handlers

const keepHandlers = (cloud: Cloud) =>
  ({
    UpdatePermissionSet: (input: sso.UpdatePermissionSetRequest): sso.UpdatePermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      checkDuration(input.SessionDuration)
      const set = findSet(cloud, input.PermissionSetArn)
      if (input.SessionDuration !== undefined) set.contents.session_duration = input.SessionDuration
      set.description = input.Description ?? set.description
      set.relay_state = input.RelayState ?? set.relay_state
      return {}
    },

    DeletePermissionSet: (input: sso.DeletePermissionSetRequest): sso.DeletePermissionSetResponse => {
      checkInstance(cloud, input.InstanceArn)
      const set = findSet(cloud, input.PermissionSetArn)
      if (cloud.assignments.some((one) => one.set === set.arn && one.to === null))
        throw new AwsError('ConflictException', 'PermissionSet has ApplicationProfile associated with it.')
      if (goingOn(cloud, (act) => act.set === set.arn)) throw inTheWay()
      set.deleted = nowIn(cloud)
      return {}
    },

    ListPermissionSets: (input: sso.ListPermissionSetsRequest, call: Call): sso.ListPermissionSetsResponse => {
      checkInstance(cloud, input.InstanceArn)
      const listed = [...cloud.sets.values()].filter(({ created, deleted }) => shows(cloud, created, deleted))
      const { items, NextToken } = page(
        call,
        listed.map(({ arn }) => arn),
        cloud.settings.page,
      )
      return { PermissionSets: items, NextToken }
    },
  }) as const satisfies Handlers

const tagHandlers = (cloud: Cloud) =>
  ({
    TagResource: (input: sso.TagResourceRequest): sso.TagResourceResponse => {
      checkInstance(cloud, input.InstanceArn)
      tag(findTagged(cloud, input.ResourceArn), input.Tags ?? [])
      return {}
    },

    UntagResource: (input: sso.UntagResourceRequest): sso.UntagResourceResponse => {
      checkInstance(cloud, input.InstanceArn)
      const { tags } = findTagged(cloud, input.ResourceArn)
      for (const key of input.TagKeys ?? []) tags.delete(key)
      return {}
    },

    ListTagsForResource: (input: sso.ListTagsForResourceRequest, call: Call): sso.ListTagsForResourceResponse => {
      checkInstance(cloud, input.InstanceArn)
      const tags = [...findTagged(cloud, input.ResourceArn).tags].map(([Key, Value]) => ({ Key, Value }))
      const { items, NextToken } = page(call, tags, cloud.settings.page)
      return { Tags: items, NextToken }
    },
  }) as const satisfies Handlers

function shown({ arn, name, description, relay_state, contents, made_at }: PermissionSet): sso.PermissionSet {
  return {
    PermissionSetArn: arn,
    Name: name,
    Description: description,
    RelayState: relay_state,
    SessionDuration: contents.session_duration,
    CreatedDate: made_at,
  }
}

/** A permission set, or the instance itself. */
function findTagged(cloud: Cloud, arn: string | undefined): Pick<PermissionSet, 'tags'> {
  return arn === cloud.instance_arn ? { tags: cloud.instance_tags } : findSet(cloud, arn)
}

function tag({ tags }: Pick<PermissionSet, 'tags'>, added: readonly sso.Tag[]): void {
  if (new Set(added.map(({ Key }) => Key)).size < added.length) refuse('sso', 'Duplicate tag keys')
  if (added.some(({ Key = '' }) => /^aws:/i.test(Key))) refuse('sso', 'Tag keys that start with aws: are reserved')
  const all = new Map([...tags, ...added.map(({ Key = '', Value = '' }) => [Key, Value] as const)])
  if (all.size > 50) throw new AwsError('ServiceQuotaExceededException', 'at most 50 tags')
  for (const [key, value] of all) tags.set(key, value)
}

/** From one hour to twelve. */
function checkDuration(duration: string | undefined): void {
  if (duration === undefined) return
  const [, days, hours, minutes, seconds] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(duration) ?? []
  const total = [days, hours, minutes, seconds].reduce(
    (sum, part, place) => sum + Number(part ?? 0) * (worth[place] ?? 0),
    0,
  )
  if (total < 3600 || total > 43_200) refuse('sso', 'SessionDuration must be between 1 hour and 12 hours')
}
const worth = [86_400, 3600, 60, 1]
