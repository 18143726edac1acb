import { Type } from 'typebox'
import { operation } from '../../http/operation.ts'
import { IdParams, PageOf, pageQuery } from '../../http/schema.ts'
import { notFound } from '../../kernel/errors.ts'
import { personOf } from '../person.ts'
import { Conflict } from './conflict.ts'
import { hasProvider, listConflictsPage, type StoredConflict } from './conflict-list-store.ts'

/** Lists the users whom a directory sent, and who are not made because somebody else has their address. */
export const listConflicts = operation({
  method: 'GET',
  path: '/v1/identity-providers/{id}/conflicts',
  summary: 'List the users of a directory whose address somebody else has',
  credential: 'any',
  scope: 'users:read',
  params: IdParams,
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: PageOf(Conflict) },
  errors: ['not_found'],
  async run({ tx }, { params, page }) {
    const rows = await listConflictsPage(tx, params.id, page)
    if (rows.length === 0 && !(await hasProvider(tx, params.id))) throw notFound('identity provider')
    return page.of(rows.map(shownConflict), ({ id }) => [id])
  },
})

function shownConflict({ resource, ...rest }: StoredConflict): Conflict {
  const { user_name, external_id, email, name } = personOf(resource)
  return { ...rest, user_name, external_id, email, name }
}
