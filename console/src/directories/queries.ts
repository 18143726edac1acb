import { answerOf, type Schemas } from '@sallyport/client'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { pageOf, readPages } from '../access/pages.ts'
import { api, once } from '../api/api.ts'
import { ifMatch, type Tagged, withTag } from '../api/tagged.ts'
import { growing, pageBehind } from '../parts/next-page.ts'
import { now } from '../time/clock.ts'
import { type Directory, pollDirectoryAfter } from './directory.ts'
import type { Filters } from './filters.ts'
import type { PastedPerson } from './pasted-people.ts'
import { pollRunAfter, type Run } from './run.ts'

/** More directories than that are of no use in a list. */
const maxPages = 5

/** The directories, the first that was made first. */
export const directoriesQuery = queryOptions({
  queryKey: ['identity_provider', 'list'],
  queryFn: async (): Promise<Directory[]> => {
    const { found } = await readPages<Directory>(
      (cursor) => answerOf(api.GET('/v1/identity-providers', { params: { query: pageOf(cursor) } })),
      { maxPages },
    )
    return found
  },
})

/** How many runs are shown first: a person looks for the last ones. The service keeps a hundred. */
export const fewRuns = 10
export const allRuns = 200

/** How many say where a directory stands: the next one by the schedule may be first. */
export const latestRuns = 3

/** A directory as it is now, with its latest runs: one answer follows from the other. */
export type Standing = { directory: Tagged<Directory>; runs: Run[]; hasMore: boolean }

/** It is loaded again while the directory is read. `limit`: of runs. */
export const standingQuery = (id: string, limit: number) =>
  queryOptions({
    queryKey: ['identity_provider', id, 'standing', limit],
    queryFn: async (): Promise<Standing> => {
      const path = { id }
      const [directory, runs] = await Promise.all([
        withTag(api.GET('/v1/identity-providers/{id}', { params: { path } })),
        answerOf(api.GET('/v1/identity-providers/{id}/sync-runs', { params: { path, query: { limit } } })),
      ])
      return { directory, runs: runs.data, hasMore: runs.has_more }
    },
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      pollDirectoryAfter(data?.directory.record, data?.runs, dataUpdateCount, now()),
    placeholderData: keepPreviousData,
  })

/** A run with how fast access ended. */
export const runQuery = (id: string, run_id: string) =>
  queryOptions({
    queryKey: ['identity_provider', id, 'run', run_id],
    queryFn: () =>
      answerOf(api.GET('/v1/identity-providers/{id}/sync-runs/{run_id}', { params: { path: { id, run_id } } })),
    refetchInterval: ({ state: { data, dataUpdateCount } }) => pollRunAfter(data, dataUpdateCount),
  })

export type Change = Schemas['SyncChange']

/** What a run did with each person and group, or would do. `as`: what the run stands at, since each of its states has other changes. */
export const changesQuery = (id: string, run_id: string, { change, outcome }: Filters, as: string) =>
  infiniteQueryOptions({
    queryKey: ['identity_provider', id, 'changes', run_id, { change, outcome }, as],
    queryFn: ({ pageParam }) => {
      const query = { ...pageBehind(pageParam), ...(change && { change }), ...(outcome && { outcome }) }
      const params = { path: { id, run_id }, query }
      return answerOf(api.GET('/v1/identity-providers/{id}/sync-runs/{run_id}/changes', { params }))
    },
    ...growing,
    placeholderData: keepPreviousData,
  })

/** Has a directory read. `confirm_removals_of`: a run that was stopped, whose removals may happen. */
export const startRun = (id: string, body: { dry_run?: boolean; confirm_removals_of?: string }, key: string) =>
  answerOf(api.POST('/v1/identity-providers/{id}/sync', { params: { path: { id } }, body, ...once(key) }))

type DirectoryChange = { enabled?: boolean; name?: string; config?: Record<string, unknown> }

/** Changes a directory, as it was shown. */
export const changeDirectory = (
  { record: { id }, tag }: Tagged<Directory>,
  body: DirectoryChange,
): Promise<Tagged<Directory>> =>
  withTag(api.PATCH('/v1/identity-providers/{id}', { params: { path: { id }, ...ifMatch(tag) }, body }))

type NewDirectory = Pick<Directory, 'name' | 'provider_type'> & { config?: Record<string, unknown> }

export const createDirectory = (body: NewDirectory, key: string): Promise<Tagged<Directory>> =>
  withTag(api.POST('/v1/identity-providers', { body, ...once(key) }))

/** Who these people would be here: at most a thousand. */
export const askWhoMatches = (id: string, people: PastedPerson[]) =>
  answerOf(api.POST('/v1/identity-providers/{id}/preflight', { params: { path: { id } }, body: { people } }))
