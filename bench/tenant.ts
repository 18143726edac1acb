import { openDatabase } from '../server/src/db/transaction.ts'
import { createTenant } from '../server/src/tenants/create-tenant.flow.ts'
import { embeddedTarget } from './embedded.ts'
import { type Caller, callerOf } from './meanwhile.ts'

/** A further tenant of a service with the embedded database; its owner, signed in. */
export async function addTenant(data_dir: string, base_url: string, name: string): Promise<Caller> {
  const database = openDatabase(await embeddedTarget(data_dir), { writes: 1, long: 1 })
  const account = { email: `owner@${name}.example`, password: 'a long enough password' }
  const { tenant_id } = await createTenant(database, { name, owner: { ...account, name: 'Owner' } })
  await database.close()
  const { token } = await callerOf(base_url)<{ token: string }>(
    { tenant_id, token: '' },
    'POST',
    '/v1/auth/login',
    account,
  )
  return { tenant_id, token }
}
