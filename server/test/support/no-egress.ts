import type { Egress } from '../../src/kernel/context.ts'

/** For tests that make no outgoing call: every address is refused. */
export const noEgress: Egress = {
  findFault: () => Promise.resolve('is not to be called here'),
  call: () => Promise.reject(new Error('this test calls no address')),
  resolve: () => Promise.reject(new Error('this test looks up no address')),
}
