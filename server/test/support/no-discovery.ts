import type { Discovery } from '../../src/kernel/context.ts'

/** For tests in which nobody looks up a tenant by its name. */
export const noDiscovery: Discovery = { find: () => Promise.reject(new Error('there is no discovery here')) }
