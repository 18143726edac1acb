import { Refusal, Unreachable } from '@sallyport/client'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { lacksFactor } from '../api/faults.ts'
import { setLost } from '../live/connection.ts'

const maxRetries = 3

function note(error: Error): void {
  if (error instanceof Unreachable) setLost(true)
}

/** A sign-in that lacks a second factor reads nothing: asked for the person, the service says so, and the page to set one up is shown. */
function noteOfQuery(error: Error, { queryKey: [kind, ...rest] }: { queryKey: readonly unknown[] }): void {
  note(error)
  const isMe = kind === 'me' && rest.length === 0
  if (!isMe && lacksFactor(error)) queries.invalidateQueries({ queryKey: ['me'], exact: true }).catch(() => undefined)
}

/** Answers stay as they are until the stream says that they changed. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteOfQuery, onSuccess: () => setLost(false) }),
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      networkMode: 'always',
      retry: (count, error) =>
        count < maxRetries && (error instanceof Unreachable || (error instanceof Refusal && error.status === 503)),
      retryDelay: (count) => 500 * 2 ** count,
    },
  },
})
