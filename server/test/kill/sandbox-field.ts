import { injectFaults } from '../support/sandbox-faults.ts'
import { roads } from './company.ts'
import type { FieldTarget } from './field-target.ts'
import type { Look } from './given-word.ts'

let accounts = 100_000_000_000

/** An account that nobody has asked for yet, where the target takes any. */
export function newAccount(): string {
  accounts += 1
  return String(accounts)
}

/** The pretend cloud in the service's own database: what it holds, each by its key. */
export async function holdsAtSandbox(look: Look): Promise<string[]> {
  return (await look<{ key: string }>('select key from sandbox_assignment')).map(({ key }) => key)
}

export function openSandboxField(look: Look): FieldTarget {
  return {
    type: 'sandbox',
    env: {},
    furnish: async () => undefined,
    welcome: async () => undefined,
    place: (road) => ({ resource: { type: 'cloud_account', id: newAccount() }, action: roads[road] }),
    actionsOf: (road) => [roads[road]],
    setOnAccounts: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1',
    holds: () => holdsAtSandbox(look),
    meet: () => undefined,
    pass: () => undefined,
    injectable: [{ polls: 3 }, { failed: 1 }, { throttled: 2 }, { forgotten: 2 }, { conflicting: 1 }],
    inject: (faults, tenant_id) => injectFaults(look, tenant_id, faults),
    close: async () => undefined,
  }
}
