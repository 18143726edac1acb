import type { StreamHub } from '../../src/kernel/context.ts'

/** For tests without open streams. */
export const noStreamHub: StreamHub = {
  subscribe: () => {
    throw new Error('nobody listens here')
  },
}
