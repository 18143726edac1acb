import type { StreamHub } from '../../src/kernel/context.ts'

const refuse = () => {
  throw new Error('nobody listens here')
}

/** For tests without open streams. */
export const noStreamHub: StreamHub = { subscribe: refuse, follow: refuse }
