import type { Bell } from '../../src/kernel/context.ts'

/** For tests in which nobody listens. */
export const noBell: Bell = {
  listen: () => {
    throw new Error('nobody listens here')
  },
}
