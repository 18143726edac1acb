import { type DirectoryCtx, scimOperation } from '../../http/scim-operation.ts'
import { notUnique } from '../../http/scim-problem.ts'
import { Problem } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { userKind } from '../attribute.ts'
import { personOf } from '../person.ts'
import { readResource } from '../read-resource.ts'
import { searchedValues } from '../searched-values.ts'
import { readSelection } from '../shown-resource.ts'
import type { DirectoryUser } from './directory-user.ts'
import { findHolders, insertDirectoryUser, type UserContent } from './directory-user-store.ts'
import { userAnswer } from './shown-user.ts'

const maxAttempts = 3

/** Makes a user whom the directory manages. */
export const createUser = scimOperation({
  method: 'POST',
  path: '/Users',
  changes: 'authority',
  async run(ctx, { body, query }) {
    const selection = readSelection(userKind, query)
    const resource = readResource(userKind, body)
    const content = { person: personOf(resource), resource, values: searchedValues(userKind, resource) }
    return userAnswer(ctx, 201, await insertUser(ctx, content), selection)
  },
})

/** Concurrent calls for one person: the database lets one of them in, and the others then find the user. */
async function insertUser(ctx: DirectoryCtx, content: UserContent): Promise<DirectoryUser> {
  for (let attempt = 1; ; attempt += 1) {
    const { is_known, holders } = await findHolders(ctx, content.person)
    if (is_known) throw notUnique('a user of this directory has the `userName` or the `externalId`')
    if (holders.length > 0) throw notUnique('a user whom this directory does not manage has the e-mail address')
    try {
      return await insertDirectoryUser(ctx, newId(), content)
    } catch (error) {
      const isRace = error instanceof Problem && (error.code === 'user_exists' || error.code === 'version_conflict')
      if (!isRace || attempt === maxAttempts) throw error
    }
  }
}
