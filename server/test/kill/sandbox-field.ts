import { injectFaults } from '../support/sandbox-faults.ts'
import type { Query } from './acknowledged.ts'
import { actionsByMode } from './company.ts'
import type { FieldTarget } from './field-target.ts'

let accounts = 100_000_000_000

/** An account that has never been requested, for targets that accept any account. */
export function newAccount(): string {
  accounts += 1
  return String(accounts)
}

/** The keys of everything that the sandbox holds, from the service's own database. */
export async function holdsAtSandbox(query: Query): Promise<string[]> {
  return (await query<{ key: string }>('select key from sandbox_assignment')).map(({ key }) => key)
}

export function openSandboxField(query: Query): FieldTarget {
  return {
    type: 'sandbox',
    env: {},
    furnish: async () => undefined,
    welcome: async () => undefined,
    place: (mode) => ({ resource: { type: 'cloud_account', id: newAccount() }, action: actionsByMode[mode] }),
    actionsOf: (mode) => [actionsByMode[mode]],
    setOnAccounts: 'arn:aws:sso:::permissionSet/ssoins-1/ps-1',
    holds: () => holdsAtSandbox(query),
    meet: () => undefined,
    pass: () => undefined,
    failsPlans: false,
    injectable: [{ polls: 3 }, { failed: 1 }, { throttled: 2 }, { forgotten: 2 }, { conflicting: 1 }],
    inject: (faults, tenant_id) => injectFaults(query, tenant_id, faults),
    close: async () => undefined,
  }
}
