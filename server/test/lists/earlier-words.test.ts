import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { newId } from '../../src/kernel/id.ts'
import { bareDatabase } from '../support/backup-database.ts'

test('policies and keys of an earlier version are found by their words after the upgrade', async () => {
  const db = await bareDatabase()
  await migrate(db.owner, '0065_action_descriptions')
  const [tenant_id, user_id, policy_id, key_id] = [newId(), newId(), newId(), newId()]
  await db.asSuperuser(`insert into tenant (id, name) values ($1, 'earlier')`, [tenant_id])
  await db.asSuperuser(
    `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      values ($1, $2, 'a@example.com', 'a@example.com', 'Ada', 'local')`,
    [tenant_id, user_id],
  )
  await db.asSuperuser(
    `insert into policy (tenant_id, id, name, description, priority) values ($1, $2, 'Équipe', 'Night shift', 0)`,
    [tenant_id, policy_id],
  )
  await db.asSuperuser(
    `insert into api_key (tenant_id, id, name, secret_hash, scopes, created_by)
      values ($1, $2, 'Deploy-prod', sha256('x'), '{}', $3)`,
    [tenant_id, key_id, user_id],
  )
  await migrate(db.owner)
  assert.deepEqual(await db.asSuperuser('select policy_id, word from policy_word order by word'), [
    { policy_id, word: 'equipe' },
    { policy_id, word: 'night' },
    { policy_id, word: 'shift' },
  ])
  assert.deepEqual(await db.asSuperuser('select api_key_id, word from api_key_word order by word'), [
    { api_key_id: key_id, word: 'deploy' },
    { api_key_id: key_id, word: 'prod' },
  ])
  const forced = await db.asSuperuser(
    `select relname from pg_class where relname in ('policy', 'api_key') and relforcerowsecurity order by 1`,
  )
  assert.deepEqual(forced, [{ relname: 'api_key' }, { relname: 'policy' }])
})
