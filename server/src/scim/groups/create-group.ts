import { scimOperation } from '../../http/scim-operation.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { groupKind } from '../attribute.ts'
import { readResource } from '../read-resource.ts'
import { readSelection } from '../shown-resource.ts'
import { insertDirectoryGroup, isGroupKnown } from './directory-group-store.ts'
import { groupAnswer } from './group-answer.flow.ts'
import { groupBodyLimit, groupContentOf, groupKnown, memberIds } from './group-change.ts'
import { requireMembers } from './known-members.flow.ts'

/** Makes a group that the directory manages. It gives no roles until somebody here maps some to it. */
export const createGroup = scimOperation({
  method: 'POST',
  path: '/Groups',
  changes: 'authority',
  bodyLimit: groupBodyLimit,
  async run(ctx, { body, query }) {
    const selection = readSelection(groupKind, query)
    const resource = readResource(groupKind, body)
    const content = groupContentOf(resource)
    const members = await requireMembers(ctx, memberIds(resource.members))
    if (await isGroupKnown(ctx, content)) throw groupKnown()
    try {
      return await groupAnswer(ctx, 201, await insertDirectoryGroup(ctx, newId(), content, members), selection)
    } catch (error) {
      throw error instanceof Problem && error.code === 'version_conflict' ? groupKnown() : error
    }
  },
})
