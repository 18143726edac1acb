import type { Installation, InstallationState } from '../../src/installation/installation.ts'
import { newId } from '../../src/kernel/id.ts'

const state: Installation = { id: newId(), epoch: 1, adopted_epoch: null, read_only: null }

/** An installation that may act at targets, for tests without a service. */
export const original: InstallationState = { now: async () => state, check: async () => state }

const key = Buffer.alloc(32, 'm')

/** The key that signs its marks. */
export const markKeys = { inUse: () => key, all: () => [key] }
