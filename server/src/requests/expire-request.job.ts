import type { DueWork } from '../jobs/work-list.ts'
import { expirePendingRequest } from './transition-store.ts'

/** A request that nobody decided in time expires. */
export const expireRequest: DueWork = {
  table: 'access_request',
  async run(ctx, item) {
    await expirePendingRequest(ctx, item)
  },
}
