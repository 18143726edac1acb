import { recordTag } from '../http/if-match.ts'
import { operation } from '../http/operation.ts'
import { Rehearsal } from './rehearsal.ts'
import { readRehearsal } from './rehearsal-store.ts'

export const getRehearsal = operation({
  method: 'GET',
  path: '/v1/rehearsal',
  summary: 'Get whether the tenant is in rehearsal, and what the rehearsal has made',
  credential: 'any',
  scope: 'users:read',
  replies: { 200: Rehearsal },
  errors: [],
  etag: recordTag,
  run: ({ tx }) => readRehearsal(tx),
})
