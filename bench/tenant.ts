import { openDatabase } from '../server/src/db/transaction.ts'
import { readRunningEmbedded } from '../server/src/embedded-postgres/start.ts'
import { createTenant } from '../server/src/tenants/create-tenant.flow.ts'
import { type Caller, callerOf } from './meanwhile.ts'

/** A further tenant of a service with the embedded database; its owner, signed in. */
export async function addTenant(data_dir: string, base_url: string, name: string): Promise<Caller> {
  const endpoint = await readRunningEmbedded(data_dir)
  if (endpoint === undefined) throw new Error('the embedded database does not run')
  const { host, port, superuser: user, password: secret } = endpoint
  const database = openDatabase(
    { host, port, user, database: 'sallyport', ...(secret && { password: secret }) },
    { writes: 1, long: 1 },
  )
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
