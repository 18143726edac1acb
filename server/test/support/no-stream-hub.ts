import type { StreamHub } from '../../src/kernel/context.ts'

/** For tests in which nobody listens. */
export const noStreamHub: StreamHub = {
  subscribe: () => {
    throw new Error('nobody listens here')
  },
}
