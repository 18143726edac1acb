import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connectAlone } from '../../src/db/client/connect.ts'
import { seedTenant } from '../support/backup-seed.ts'
import { testDatabase } from '../support/database.ts'

/** Tests what the service's own role can do beyond its tenant, on all tables of the database, so that new ones are included. */
const db = await testDatabase()
const [{ tenant_id: our_id }, { tenant_id: their_id }] = [await seedTenant(db, 'ours'), await seedTenant(db, 'theirs')]

type Table = { name: string; key: string; columns: string[] }
const tables = await db.asSuperuser<Table>(`
  select table_name as name, case table_name when 'tenant' then 'id' else 'tenant_id' end as key,
    array_agg(column_name::text) filter (where is_generated = 'NEVER' and is_identity = 'NO') as columns
  from information_schema.columns where table_schema = 'public'
    -- Partitions refuse every statement: server/src/db/event-quarters.test.ts.
    and table_name not in (select inhrelid::regclass::text from pg_inherits)
  group by table_name having table_name = 'tenant' or bool_or(column_name = 'tenant_id') order by 1`)

const service = await connectAlone(db.service)
db.atEnd(() => service.end())

/** Runs it as the service's role in a transaction that is rolled back. `tenant_id`: the tenant set in it; undefined: none. */
async function say(tenant_id: string | undefined, text: string, values: unknown[] = []) {
  await service.query('begin')
  try {
    if (tenant_id !== undefined) await service.query(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
    const { rows, rowCount } = await service.query<Record<string, unknown>>(text, values)
    return { rows, count: rowCount ?? 0 }
  } finally {
    await service.query('rollback')
  }
}

/** Refused by row-level security or for lack of a privilege: both isolate. */
const refused = { code: '42501' }

/** Asserts that it succeeds without any row, or is refused. */
async function touchesNothing(tenant_id: string | undefined, text: string, values: unknown[] = []): Promise<void> {
  const outcome = await say(tenant_id, text, values).catch((error: { code: string }) => error)
  if ('code' in outcome) assert.equal(outcome.code, refused.code)
  else assert.equal(outcome.count, 0, text)
}

for (const { name, key, columns } of tables) {
  suite(`the table ${name}`, () => {
    const countOf = async (tenant_id: string) =>
      (await db.asSuperuser<{ count: string }>(`select count(*) from ${name} where ${key} = $1`, [tenant_id]))[0]?.count

    test('returns all our rows and none of theirs to a statement without a tenant condition (T13)', async () => {
      for (const id of [our_id, their_id]) {
        assert.notEqual(await countOf(id), '0', 'give it a row in server/test/support/backup-seed.ts')
      }
      const { rows } = await say(
        our_id,
        `select count(*), count(*) filter (where ${key} <> $1) as theirs from ${name}`,
        [our_id],
      )
      assert.deepEqual(rows, [{ count: await countOf(our_id), theirs: '0' }])
    })

    test('returns nothing without a tenant, or with an invalid one (T13)', async () => {
      await touchesNothing(undefined, `select 1 from ${name}`)
      await touchesNothing('', `select 1 from ${name}`)
      await assert.rejects(say('theirs', `select 1 from ${name}`), { code: '22P02' })
    })

    test('allows no change or deletion of their rows, not even by key (T13)', async () => {
      for (const column of columns) {
        await touchesNothing(our_id, `update ${name} set ${column} = ${column} where ${key} = $1`, [their_id])
        await touchesNothing(undefined, `update ${name} set ${column} = ${column}`)
      }
      await touchesNothing(our_id, `delete from ${name} where ${key} = $1`, [their_id])
      await touchesNothing(undefined, `delete from ${name}`)
      await assert.rejects(say(our_id, `truncate ${name} cascade`), refused)
    })

    test('accepts no row for another tenant, neither new nor moved (T13)', async () => {
      const [foreign] = await db.asSuperuser<{ row: object }>(
        `select to_jsonb(t) as row from ${name} t where ${key} = $1 limit 1`,
        [their_id],
      )
      const copy = `insert into ${name} (${columns}) select ${columns} from jsonb_populate_record(null::${name}, $1)`
      for (const tenant_id of [our_id, undefined]) {
        await assert.rejects(say(tenant_id, copy, [JSON.stringify(foreign?.row)]), refused)
      }
      await assert.rejects(say(our_id, `update ${name} set ${key} = $1`, [their_id]), refused)
    })
  })
}
