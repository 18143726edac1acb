import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/wait.ts'
import { connectAlone } from './client/connect.ts'
import { listMigrations } from './migrate.ts'
import { runMigration, runsOutside, statementsOf } from './run-migration.ts'

const db = await testDatabase()
const migration = (name: string, text: string) => ({ name, text, checksum: 'x' })
const recorded = (name: string) => db.asSuperuser('select name from migration where name = $1', [name])

async function asOwner<Result>(work: (client: Awaited<ReturnType<typeof connectAlone>>) => Promise<Result>) {
  const client = await connectAlone(db.owner)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function makeTable(name: string): Promise<void> {
  await db.asSuperuser(`create table ${name} (id integer)`)
  await db.asSuperuser(`alter table ${name} owner to sallyport_owner`)
}

/** A table that a transaction is reading, and the connection of that transaction. */
async function lockedTable(name: string) {
  await makeTable(name)
  const holder = await connectAlone(db.owner)
  await holder.query('begin')
  await holder.query(`select from ${name}`)
  return holder
}

suite('a migration', () => {
  test('that fails leaves nothing, and is not recorded', async () => {
    const text = 'create table tried (id integer); select 1 / 0;'
    await assert.rejects(
      asOwner((client) => runMigration(client, migration('9001_a', text))),
      /division by zero/,
    )
    const [row] = await db.asSuperuser(`select to_regclass('tried') as made`)
    assert.deepEqual([row, await recorded('9001_a')], [{ made: null }, []])
  })

  test('that meets a lock lets others pass, and runs once the lock is gone', async () => {
    const holder = await lockedTable('held')
    const deadlines = { lockMs: 20, pauseMs: 20, allMs: 600_000 }
    const running = asOwner((client) =>
      runMigration(client, migration('9002_b', 'alter table held add column more integer;'), deadlines),
    )
    // Behind the waiting migration, this would wait as long as the holder, if that waited without an end.
    for (let times = 0; times < 5; times++) await db.asSuperuser('select from held')
    assert.deepEqual(await recorded('9002_b'), [])
    await holder.query('commit')
    await holder.end()
    await running
    assert.equal((await recorded('9002_b')).length, 1)
  })

  test('that waits for a lock too long says so', async () => {
    const holder = await lockedTable('kept')
    const deadlines = { lockMs: 20, pauseMs: 0, allMs: 0 }
    const text = 'alter table kept add column more integer;'
    await assert.rejects(
      asOwner((client) => runMigration(client, migration('9003_c', text), deadlines)),
      /^Error: the migration `9003_c` waits for a lock that another session holds/,
    )
    await holder.query('rollback')
    await holder.end()
  })

  test('may build an index while others write, and repeats what was interrupted', async () => {
    await makeTable('written')
    const text = `-- Outside a transaction: writes go on.
drop index concurrently if exists written_ix;
create index concurrently written_ix on written (id);
`
    // What an interruption leaves: an index that is not used.
    await db.asSuperuser('create index written_ix on written (id)')
    await db.asSuperuser(`update pg_index set indisvalid = false where indexrelid = 'written_ix'::regclass`)
    await asOwner((client) => runMigration(client, migration('9004_d', text)))
    const valid = `select indisvalid from pg_index where indexrelid = 'written_ix'::regclass`
    await until('it is valid', async () => (await db.asSuperuser(valid))[0]?.indisvalid === true)
    assert.equal((await recorded('9004_d')).length, 1)
  })
})

test('the statements of a migration outside a transaction each end a line', () => {
  const text = `-- Outside a transaction: a; b.
drop index concurrently if exists a_ix;
create index concurrently a_ix
  on a (b);
`
  assert.ok(runsOutside(text))
  assert.deepEqual(statementsOf(text), [
    'drop index concurrently if exists a_ix',
    'create index concurrently a_ix\n  on a (b)',
  ])
})

/** Since this one, what a release has filled is never locked for long. */
const firstBounded = '0071'

test('a migration indexes tables that are there already while others write to them', async () => {
  for (const { name, text } of (await listMigrations()).filter((one) => one.name >= firstBounded)) {
    const made = new Set([...text.matchAll(/create table (\w+)/g)].map(([, table]) => table))
    for (const [, concurrently, index, table] of text.matchAll(
      /create (?:unique )?index (concurrently )?(\w+)\s+on (\w+)/g,
    )) {
      if (made.has(table)) continue
      assert.ok(concurrently, `${name}: index ${index} locks ${table}: build it concurrently, outside a transaction`)
      const again = `drop index concurrently if exists ${index};`
      assert.ok(text.includes(again), `${name}: say \`${again}\` first, since an interruption leaves an invalid index`)
    }
    assert.equal(
      /\bconcurrently\b|^alter table \w+ validate constraint\b/m.test(text),
      runsOutside(text),
      `${name}: says \`-- Outside a transaction\``,
    )
  }
})
