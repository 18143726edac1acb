import { type Caller, callerOf } from './meanwhile.ts'

/** Requests that are made and approved, ten a second; milliseconds of each approval. */
export function approvalsOf(base_url: string, { requester, approver }: { requester: Caller; approver: Caller }) {
  const call = callerOf(base_url)
  const body = {
    resource: { type: 'cloud_account', id: '111122223333' },
    action: 'ReadOnlyAccess',
    reason: 'a look at the logs',
    duration_seconds: 3_600,
  }
  return {
    async during(work: Promise<unknown>): Promise<number[]> {
      const took: number[] = []
      const calls: Promise<void>[] = []
      const approve = async () => {
        const { id } = await call<{ id: string }>(requester, 'POST', '/v1/requests', body)
        const began = performance.now()
        await call(approver, 'POST', `/v1/requests/${id}/approve`, {})
        took.push(performance.now() - began)
      }
      const approving = setInterval(() => calls.push(approve()), 100)
      await work.finally(() => clearInterval(approving))
      await Promise.all(calls)
      return took
    },
  }
}
