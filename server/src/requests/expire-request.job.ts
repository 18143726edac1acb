import type { DueWork } from '../jobs/work-list.ts'
import { expirePendingRequest } from './transition-store.ts'

/** Expires a request that was not decided before its deadline. */
export const expireRequest: DueWork = {
  table: 'access_request',
  async run(ctx, item) {
    await expirePendingRequest(ctx, item)
  },
}
