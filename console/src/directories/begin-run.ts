import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { startRun } from './queries.ts'

/** Begins a reading of a directory, and leads to it. */
export function useBeginRun(id: string) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return async (body: Parameters<typeof startRun>[1], key: string): Promise<void> => {
    const run = await startRun(id, body, key)
    await queries.invalidateQueries({ queryKey: ['identity_provider'] })
    await navigate({ to: '/directories/$id', params: { id }, search: { run: run.id } })
  }
}
