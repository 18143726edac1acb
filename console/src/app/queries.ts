import { Refusal, Unreachable } from '@sallyport/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { setLost } from '../live/connection.ts'
import { sessionOver } from './session-over.ts'

const maxRetries = 3

function note(error: Error): void {
  if (error instanceof Refusal && error.status === 401) sessionOver.note()
  if (error instanceof Unreachable) setLost(true)
}

/** Answers stay as they are until the stream says that they changed. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: note, onSuccess: () => setLost(false) }),
  mutationCache: new MutationCache({ onError: note }),
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      networkMode: 'always',
      retry: (count, error) =>
        count < maxRetries && (error instanceof Unreachable || (error instanceof Refusal && error.status === 503)),
      retryDelay: (count) => 500 * 2 ** count,
    },
    // Each write carries a key of its own, but whether to repeat it is for the person to say.
    mutations: { retry: false, networkMode: 'always' },
  },
})
