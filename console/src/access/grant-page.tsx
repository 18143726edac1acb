import { Refusal } from '@sallyport/client'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { NotFound } from '../frame/not-found.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Page } from '../parts/page.tsx'
import { useWords } from '../words/words.ts'
import { grantQuery } from './queries.ts'

/** The address of a grant leads to its request, which shows it. */
export function GrantPage(): ReactNode {
  const { id } = useParams({ from: '/grants/$id' })
  const words = useWords().access
  const { data, error, refetch } = useQuery(grantQuery(id))
  if (data !== undefined) return <Navigate to="/requests/$id" params={{ id: data.request_id }} replace />
  if (error instanceof Refusal && error.status === 404) return <NotFound />
  return <Page title={words.title}>{error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />}</Page>
}
