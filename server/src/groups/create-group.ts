import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../kernel/id.ts'
import { Group, NewGroupInput } from './group.ts'
import { insertGroup } from './group-store.ts'

/** Creates a group without members and roles. */
export const createGroup = operation({
  method: 'POST',
  path: '/v1/groups',
  summary: 'Create a group',
  credential: 'any',
  scope: 'groups:write',
  body: NewGroupInput,
  replies: { 201: Group },
  errors: [],
  etag: recordTag,
  run: (ctx, { body }) => insertGroup(ctx, { description: '', ...body, id: newId(), source: 'local' }),
})
