import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { groupKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import type { ScimOperation } from '../scim-operation.ts'
import { notUnique } from '../scim-problem.ts'
import { readSelection } from '../shown-resource.ts'
import { insertDirectoryGroup, isGroupKnown } from './directory-group-store.ts'
import { groupContentOf, memberIds } from './group-change.ts'
import { requireMembers } from './known-members.flow.ts'
import { groupAnswer } from './shown-group.ts'

/** A group of 10,000 users is about a megabyte. */
export const groupBodyLimit = 8 * 1024 * 1024

/** Makes a group that the directory manages. It gives no roles until somebody here maps some to it. */
export const createGroup: ScimOperation = {
  method: 'POST',
  path: '/Groups',
  changes: 'authority',
  bodyLimit: groupBodyLimit,
  async run(ctx, { body, query }) {
    const selection = readSelection(groupKind, query)
    const resource = readResource(groupKind, body)
    const content = groupContentOf(resource)
    const members = await requireMembers(ctx, memberIds(resource.members))
    if (await isGroupKnown(ctx, content)) throw known()
    try {
      return await groupAnswer(ctx, 201, await insertDirectoryGroup(ctx, newId(), content, members), selection)
    } catch (error) {
      throw error instanceof Problem && error.code === 'version_conflict' ? known() : error
    }
  },
}

export const known = () => notUnique('another group of this directory has the `externalId`, or without one the name')
