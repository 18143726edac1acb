import { noResource } from '../http/scim-problem.ts'
import { readUuid } from '../kernel/id.ts'

/** The id in a path. @throws ScimProblem 404 for a text that cannot be one */
export function requireId(kind: 'User' | 'Group', text = ''): string {
  const id = readUuid(text)
  if (id === undefined) throw noResource(kind)
  return id
}
