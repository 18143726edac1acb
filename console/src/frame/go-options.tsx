import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Answer } from '../access/answer.tsx'
import { type Entry, keyOf } from '../access/entry.ts'
import { type Grant, grantState, isLive } from '../access/grant.ts'
import { catalogueQuery, ownGrantsQuery } from '../access/queries.ts'
import { useSettled } from '../parts/settled.ts'
import { waitingQuery } from '../requests/queries.ts'
import { type AccessRequest, nameOf } from '../requests/request.ts'
import { useWords } from '../words/words.ts'
import { matches } from './go-matches.ts'
import { usePlaces } from './places.ts'

/** Somewhere to go. */
export type Option = { key: string; name: string; about?: ReactNode; go: () => Promise<void> }
export type Group = { title: string; options: readonly Option[] }

/** How many of a kind are shown. */
const shown = { own: 5, catalogue: 8 }

/** Where a person can go who searches for this text; `isSearching`: what may be requested is still to come. */
export function useGoOptions(text: string): { groups: readonly Group[]; isSearching: boolean; error: Error | null } {
  const words = useWords()
  const asked = useSettled(text)
  const { data, error, isFetching } = useQuery({ ...catalogueQuery(asked), enabled: asked !== '' })
  const isCurrent = text !== '' && asked === text
  const requested = useCatalogueOptions(isCurrent ? (data?.found ?? []) : [])
  const groups: Group[] = [
    { title: words.go.pages, options: usePageOptions().filter(({ name }) => matches(name, text)) },
    ...useOwnOptions(text),
    { title: words.access.search.results, options: requested },
  ]
  return {
    groups: groups.filter(({ options }) => options.length > 0),
    isSearching: text !== '' && (!isCurrent || isFetching),
    error: isCurrent ? error : null,
  }
}

function usePageOptions(): Option[] {
  const navigate = useNavigate()
  return usePlaces().map(({ to, name }) => ({ key: to, name, go: () => navigate({ to }) }))
}

type Named = Pick<Grant | AccessRequest, 'resource' | 'resource_name' | 'action'>

const titleOf = (one: Named) => `${nameOf(one)} · ${one.action}`

/** What the person has, and what they wait for. */
function useOwnOptions(text: string): Group[] {
  const words = useWords()
  const navigate = useNavigate()
  const { data: grants = [] } = useQuery(ownGrantsQuery)
  const { data: waiting } = useQuery(waitingQuery)
  const fits = (one: Named) => matches(`${titleOf(one)} ${one.resource.id}`, text)
  const ofGrant = (grant: Grant): Option => ({
    key: grant.id,
    name: titleOf(grant),
    about: grantState(grant, words).word,
    go: () => navigate({ to: '/grants/$id', params: { id: grant.id } }),
  })
  const ofRequest = (request: AccessRequest): Option => ({
    key: request.id,
    name: titleOf(request),
    about: words.requests.states[request.status],
    go: () => navigate({ to: '/requests/$id', params: { id: request.id } }),
  })
  const requests = waiting?.data.filter(fits) ?? []
  return [
    {
      title: words.access.yours,
      options: grants
        .filter((grant) => isLive(grant) && fits(grant))
        .slice(0, shown.own)
        .map(ofGrant),
    },
    { title: words.access.waiting, options: requests.slice(0, shown.own).map(ofRequest) },
  ]
}

/** What the person may request: its form opens. */
function useCatalogueOptions(entries: readonly Entry[]): Option[] {
  const navigate = useNavigate()
  return entries.slice(0, shown.catalogue).map((entry) => ({
    key: keyOf(entry),
    name: titleOf(entry),
    about: <Answer entry={entry} />,
    go: () => navigate({ to: '/', search: { ...entry.resource, action: entry.action } }),
  }))
}
