import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { newId } from '../kernel/id.ts'
import { analyzeGrown } from './analyze-grown.ts'
import { connectAlone } from './client/connect.ts'

const db = await testDatabase()
const tenant_id = newId()
await db.asSuperuser(`insert into tenant (id, name) values ($1, 'growing')`, [tenant_id])

/** Autovacuum would come by between two steps. */
await db.asSuperuser('alter table tenant_user set (autovacuum_enabled = off)')

const joining = `insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
  select $1, gen_random_uuid(), n || '@example.com', n || '@example.com', 'Ada', 'local'
  from generate_series($2::integer, $3::integer) n`
const join = (first: number, last: number) => db.asSuperuser(joining, [tenant_id, first, last])

const analyze = () => analyzeGrown(db.database.work, db.owner)

test('a table is analyzed when it has outgrown what PostgreSQL knows of it, and no more often', async () => {
  assert.ok(!(await analyze()).includes('tenant_user'), 'an empty table')
  await join(1, 600)
  assert.ok((await analyze()).includes('tenant_user'), 'a table that was never analyzed')
  await join(601, 800)
  assert.ok(!(await analyze()).includes('tenant_user'), 'a table that is a third larger')
  await join(801, 8_000)
  assert.ok((await analyze()).includes('tenant_user'), 'a table that is thirteen times as large')
  assert.deepEqual(await analyze(), [])
})

test('a table is analyzed again once the rows are there that were under way when PostgreSQL counted', async () => {
  await db.asSuperuser('delete from tenant_user where tenant_id = $1', [tenant_id])
  await db.asSuperuser('vacuum full analyze tenant_user')
  const client = await connectAlone(db.service)
  try {
    await client.query('begin')
    await client.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
    await client.query(joining, [tenant_id, 1, 2_000])
    assert.ok((await analyze()).includes('tenant_user'), 'the premise: a table with their pages')
    assert.deepEqual(await analyze(), [])
    // Otherwise the connection tells PostgreSQL within ten seconds.
    await client.query('select pg_stat_force_next_flush()')
    await client.query('commit')
    await until('the rows are counted', async () => (await analyze()).includes('tenant_user'))
    assert.deepEqual(await analyze(), [])
  } finally {
    await client.end()
  }
})

test('a connection then makes its plans again', async () => {
  await db.asSuperuser('delete from tenant_user where tenant_id = $1', [tenant_id])
  await db.asSuperuser('vacuum analyze tenant_user')
  const client = await connectAlone(db.service)
  try {
    await client.query(`select set_config('app.tenant_id', $1, false)`, [tenant_id])
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query('prepare by_id (uuid, uuid) as select from tenant_user where tenant_id = $1 and id = $2')
    const plan = async () => {
      const { rows } = await client.query(`explain execute by_id ('${tenant_id}', '${newId()}')`)
      return JSON.stringify(rows)
    }
    const ofEmptyTable = await plan()
    await join(1, 2_000)
    assert.equal(await plan(), ofEmptyTable, 'the premise: the connection keeps its plan')
    assert.ok((await analyze()).includes('tenant_user'))
    assert.match(await plan(), /tenant_user_pk/)
  } finally {
    await client.end()
  }
})
