import { Refusal } from '@sallyport/client'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { NotFound } from '../frame/not-found.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { requestQuery } from './queries.ts'
import { RequestView } from './request-view.tsx'

/** One request, at its own address. */
export function RequestPage(): ReactNode {
  const { id } = useParams({ from: '/requests/$id' })
  const words = useWords()
  const { data, error, refetch } = useQuery(requestQuery(id))
  if (error instanceof Refusal && error.status === 404) return <NotFound />
  return (
    <Page title={words.requests.detail.title}>
      {data !== undefined ? (
        <RequestView key={id} request={data} />
      ) : error === null ? (
        <Loading />
      ) : (
        <LoadFailure error={error} retry={refetch} />
      )}
    </Page>
  )
}
