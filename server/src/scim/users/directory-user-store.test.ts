import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outline, readingOf, recordingTx } from '../../../test/support/rows-read.ts'
import { openScimStage } from '../../../test/support/scim-stage.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Statement } from '../../kernel/context.ts'
import { saveUserDeletion } from '../../users/lifecycle-store.ts'
import { personOf } from '../person.ts'
import { findDirectoryUser, saveDirectoryUser } from './directory-user-store.ts'

/** Of a directory that was just read in PostgreSQL guesses that it is small, and that any index of it will do. */
const { house, acme, directory } = await openScimStage()
const { tenant_id, owner } = acme

test('a user is found, changed and deleted without reading the others, though the tables were never analyzed', async () => {
  const { id } = await directory.user({ userName: 'ada@example.com', externalId: 'ada' })
  await house.asSuperuser(
    `with u as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        select $1, gen_random_uuid(), name || '@many.example', name || '@many.example', name, 'oidc'
        from (select 'Person ' || n as name from generate_series(1, 1500) n) names returning *)
      insert into directory_user (tenant_id, user_id, identity_provider_id, user_name_key, resource)
      select tenant_id, id, $2, email_key, '{}' from u`,
    [tenant_id, directory.id],
  )
  const tx = house.database.tenant(tenant_id)
  const ctx: DirectoryCtx = {
    tx,
    actor: { kind: 'api_key', user_id: owner.user_id, api_key_id: null, scopes: new Set() },
    request_id: 'test',
    identity_provider_id: directory.id,
    author: owner.user_id,
  }
  const found = recordingTx(tx)
  const before = await findDirectoryUser({ ...ctx, tx: found.tx }, id)
  if (before === undefined) throw new Error('the user was not found')
  const kept: Statement[] = []
  const write = async (statements: readonly Statement[]) => {
    kept.push(...statements)
    return statements.map(() => []) as never
  }
  const content = { person: { ...personOf(before.resource), active: false }, resource: before.resource, values: [] }
  const event = { type: 'user.deactivated', subject_type: 'user', subject_id: id } as const
  const inside = { ...ctx, tx: { ...tx, write } }
  await saveDirectoryUser(inside, { before, after: content, gone: [], found: [], events: [event] })
  await saveUserDeletion(inside, { id })
  for (const statement of [...found.statements, ...kept]) {
    for (const generic of [true, false]) {
      const { rows, plan } = await readingOf(house, tenant_id, statement, generic)
      assert.ok(rows < 20, outline(plan))
    }
  }
})
