import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resumeTenant, suspendTenant } from '../../src/tenants/suspend-tenant.flow.ts'
import { beDeleted } from '../support/be-deleted.ts'
import type { Reply } from '../support/house.ts'
import { anna, openProviderOfAll, openSignInStage } from '../support/sign-in-stage.ts'

/** A provider vouches for an account; the tenant that it leads to is suspended. */
const idp = await openProviderOfAll()
const stage = await openSignInStage(idp)
const { house, configure, walk, finish, assertRefused, causes, usersOf, makeOidcUser, tenant } = stage
const { database } = house

const isSuspended = ({ status, body, text }: Reply) =>
  assert.deepEqual([status, body.code], [403, 'tenant_suspended'], text)

test('the account of a user is refused and told why, and signs in again when the tenant is resumed', async () => {
  await configure()
  assert.equal((await finish(await walk('anna', anna))).status, 200)
  await suspendTenant(database, tenant().tenant_id, {})
  isSuspended(await finish(await walk('anna', anna)))
  assert.equal((await causes()).at(-1), 'tenant_suspended')
  await beDeleted(house, tenant().tenant_id, true)
  isSuspended(await finish(await walk('anna', anna)))
  await beDeleted(house, tenant().tenant_id, false)
  await resumeTenant(database, tenant().tenant_id)
  assert.equal((await finish(await walk('anna', anna))).status, 200)
})

test('an account that no user has gets the answer of any other tenant, and becomes no user', async () => {
  await configure()
  await suspendTenant(database, tenant().tenant_id, {})
  await assertRefused(await finish(await walk('anna', anna)), 'unknown_user')
  assert.deepEqual(await usersOf(), [])
})

test('an account is not linked to the user who was made for it, and is told why', async () => {
  await configure()
  await makeOidcUser(anna.email)
  await suspendTenant(database, tenant().tenant_id, {})
  isSuspended(await finish(await walk('anna', anna)))
  await resumeTenant(database, tenant().tenant_id)
  assert.equal((await finish(await walk('anna', anna))).status, 200)
})
