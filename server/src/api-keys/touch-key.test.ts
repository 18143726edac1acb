import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { sql } from '../db/sql.ts'
import { lockProvider } from '../identity-providers/identity-provider-store.ts'
import { systemActor } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { revokeKeysOfProvider, touchKey } from './api-key-store.ts'

const house = await openHouse()
const acme = await house.tenant('Acme')

test('the use of a SCIM key is noted while its provider is deleted, without a deadlock', async () => {
  const call = (method: string, url: string, body?: object) =>
    house.call({ method, url, api_key: acme.owner.api_key, tenant_id: acme.tenant_id, ...(body && { body }) })
  const provider = { name: 'Directory', provider_type: 'custom_scim' }
  const id = String((await call('POST', '/v1/identity-providers', provider)).body.id)
  const made = await call('POST', '/v1/api-keys', { name: 'scim', identity_provider_id: id })
  const key_id = String(made.body.id)
  const tx = house.database.tenant(acme.tenant_id)
  const { noted } = await tx.interactive(async (inside) => {
    // A slow machine must not end a wait: only the deadlock detection of the database may.
    await inside.read(sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`)
    await lockProvider(inside, id)
    const noted = touchKey(tx, key_id)
    await aLockIsWaitedFor(house, inside)
    await revokeKeysOfProvider({ tx: inside, actor: systemActor, request_id: newId() }, id)
    return { noted }
  })
  await noted
  const { data } = (await call('GET', `/v1/api-keys?identity_provider_id=${id}`)).body
  const [key] = data as { revoked_at: unknown }[]
  assert.notEqual(key?.revoked_at, null)
})
