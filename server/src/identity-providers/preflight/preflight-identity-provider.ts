import { operation } from '../../http/operation.ts'
import { IdParams } from '../../http/schema.ts'
import { notFound, Problem } from '../../kernel/errors.ts'
import type { DriverTypes } from '../../provisioners/drivers.ts'
import { findProvider } from '../identity-provider-store.ts'
import { protocolOf } from '../protocol.ts'
import { NewPreflight, Preflight, peopleToMatch, preflightOf, type TargetPeople } from './preflight.ts'
import { findMissing, listTargets, matchPeople } from './preflight-store.ts'

/**
 * Says, before a directory pushes, who its people would be here, and whom the targets do not have. It changes nothing. A directory that is
 * read says the same by a dry run.
 */
export const preflightIdentityProvider = (types: DriverTypes) =>
  operation({
    method: 'POST',
    path: '/v1/identity-providers/{id}/preflight',
    summary: 'Say who the people of a directory would be here, before it pushes them',
    credential: 'any',
    scope: 'users:read',
    params: IdParams,
    body: NewPreflight,
    replies: { 200: Preflight },
    errors: ['not_found', 'unprocessable'],
    async run(ctx, { params: { id }, body: { people } }) {
      const { tx, actor } = ctx
      const maySeeTargets = actor.scopes.has('provisioners:read')
      const [provider, known] = await Promise.all([findProvider(tx, id), maySeeTargets ? listTargets(tx, types) : []])
      if (provider === undefined) throw notFound('identity provider')
      if (protocolOf(provider) !== undefined) throw new Problem('unprocessable', readable)
      const read = peopleToMatch(people)
      const sound = read.filter(({ message }) => message === null)
      const matched = await matchPeople({ ...ctx, identity_provider_id: id, author: null }, sound)
      const targets: TargetPeople[] = []
      for (const target of known) targets.push(await findMissing(tx, target, sound))
      return preflightOf(people, { read, matched, targets })
    },
  })

const readable = 'this directory is read: start a sync run with `dry_run`, which says who its people would be'
