import type { Database } from '../db/transaction.ts'
import { isUuid } from '../kernel/id.ts'
import { slugFault } from './slug.ts'
import { findTenantOfSlug } from './slug-store.ts'
import { hasTenant } from './tenant-store.ts'

/**
 * The id of the tenant that the operator names, by its id or its slug. No slug has the form of an id.
 * @throws Error with a message for an unknown tenant
 */
export async function requireTenant({ work }: Pick<Database, 'work'>, named: string): Promise<string> {
  const id = isUuid(named) ? named : slugFault(named) === undefined ? await findTenantOfSlug(work, named) : undefined
  if (id !== undefined && (await hasTenant(work, id))) return id
  throw new Error(`there is no tenant with the id or slug \`${named}\`; \`tenant list\` shows all tenants`)
}
