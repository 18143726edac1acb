import type { Database } from '../db/transaction.ts'
import { operatorActor, type Tx, type WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { systemRolesInsert } from '../roles/role-store.ts'
import { passwordMinLength } from '../settings/setting.ts'
import { hashPassword, passwordFaults } from '../users/password.ts'
import { type NewUser, readNewUser, type User } from '../users/user.ts'
import { insertUser } from '../users/user-store.ts'
import { makeTenantId } from './discovery.flow.ts'
import { type OwnerToMake, ownerRoles, tenantNameFault } from './tenant.ts'
import { startingPolicyInsert, tenantInsert } from './tenant-store.ts'

export type NewTenant = { name: string; owner: OwnerToMake }

/** A new tenant as far as it can be prepared without the database: validated, and the password hashed. */
export type TenantToInsert = { name: string; owner: Omit<NewUser, 'password'> & { password_hash: string } }

/**
 * Creates a tenant with its system roles, its owner and its starting policy, and emits the events, atomically.
 * @throws Error with a message for an invalid name, Problem `invalid_input` for an invalid address or password
 */
export async function createTenant(database: Database, tenant: NewTenant): Promise<{ tenant_id: string; owner: User }> {
  const tx = database.tenant(await makeTenantId(database.service))
  const checked = await readNewTenant(tx, tenant)
  const owner = await tx.interactive((inside) => insertTenant(operatorCtx(inside), checked))
  return { tenant_id: tx.tenant_id, owner }
}

/** `tx` is for the tenant that will be inserted. @throws as `createTenant` does */
export async function readNewTenant(tx: Tx, { name, owner }: NewTenant): Promise<TenantToInsert> {
  const fault = tenantNameFault(name)
  if (fault !== undefined) throw new Error(`the tenant's name ${fault}`)
  const { password, ...user } = readNewUser({ ...owner, roles: [...ownerRoles] }, (text) =>
    passwordFaults(text, { min_length: passwordMinLength({}, { hasFactor: false }) }),
  )
  return { name, owner: { ...user, password_hash: await hashPassword(tx, password ?? '') } }
}

/** Writes the tenant in the transaction that is open for it. */
export async function insertTenant(ctx: WorkCtx, { name, owner }: TenantToInsert): Promise<User> {
  await ctx.tx.write([tenantInsert(ctx, name), systemRolesInsert(ctx.tx), startingPolicyInsert(ctx.tx)])
  return insertUser(ctx, { ...owner, id: newId(), is_owner: true })
}

/** The context of the operator, who works directly on the database. */
export function operatorCtx(tx: WorkCtx['tx']): WorkCtx {
  return { tx, actor: operatorActor, request_id: 'operator' }
}
