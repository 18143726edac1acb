import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { testDatabase } from '../../../test/support/database.ts'
import type { Statement } from '../../kernel/context.ts'
import { sql } from '../sql.ts'
import { PgConnection, pipelined } from './pg-connection.ts'

const db = await testDatabase()
let connection: PgConnection

before(async () => {
  await db.asSuperuser('create table note (key text primary key, said text)')
  await db.asSuperuser('grant select, insert, update on note to sallyport_app')
})

beforeEach(async () => {
  if (connection !== undefined && !connection.isLost) return
  connection = new PgConnection(pipelined(db.service))
  await connection.connect()
})

after(() => connection.end())

const note = (key: string, said = 'yes'): Statement => sql`insert into note (key, said) values (${key}, ${said})`
const ask = (key: string): Statement => sql`select said from note where key = ${key}`
const failing = sql`select 1 / ${0}::int`

async function value(statement: Statement): Promise<unknown> {
  const [rows = []] = await connection.run([statement])
  return Object.values(rows[0] as Record<string, unknown>)[0]
}

test('many first uses of one statement at once are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => connection.run([sql`select ${index}::int as number`])),
  )
  assert.deepEqual(
    answers.map(([rows]) => rows),
    Array.from({ length: 50 }, (_, number) => [{ number }]),
  )
})

test('a first use behind an error in its own batch leaves the statement good for the batches behind', async () => {
  const fresh = sql`select ${'fresh'}::text as word`
  const outcomes = await Promise.allSettled([
    connection.run([failing, fresh]),
    connection.run([fresh]),
    connection.run([fresh, fresh]),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

test('statements beyond what one connection keeps are forgotten, the oldest first, and still run', async () => {
  const numbered = (number: number): Statement => ({ text: `select ${number} as number`, values: [] })
  const numbers = Array.from({ length: 520 }, (_, number) => number)
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(numbers.map((number) => connection.run([numbered(number)])))
    assert.deepEqual(
      answers.map(([rows]) => rows),
      numbers.map((number) => [{ number }]),
    )
  }
  const count = await value(sql`select count(*)::int from pg_prepared_statements`)
  assert.ok((count as number) <= 502, `${count} are kept`)
})

test('prepared statements that are gone are prepared again, and a write is done once', async () => {
  await connection.run([note('one'), ask('one')])
  await connection.run([sql`deallocate all`])
  const [, , seen] = await Promise.all([
    connection.run([note('two'), ask('two')]),
    connection.run([note('three'), ask('three')]),
    connection.run([ask('two'), ask('three')]),
  ])
  assert.deepEqual(seen, [[{ said: 'yes' }], [{ said: 'yes' }]])
})

test('a table that has changed under a prepared statement is met by preparing it again', async () => {
  await db.asSuperuser(`create table changing as select 1 as number`)
  await db.asSuperuser('grant select, update on changing to sallyport_app')
  const everything = sql`select * from changing`
  const add = sql`update changing set number = number + 1 returning *`
  assert.deepEqual(await connection.run([everything]), [[{ number: 1 }]])
  assert.deepEqual(await connection.run([add]), [[{ number: 2 }]])
  await db.asSuperuser(`alter table changing add column word text default 'new'`)
  const [[first], [second], [third]] = (await Promise.all([
    connection.run([everything]),
    connection.run([add, everything]),
    connection.run([sql`select ${'other'}::text as word`]),
  ])) as [unknown[][], unknown[][], unknown[][]]
  assert.deepEqual(Object.keys(first?.[0] ?? {}), ['number', 'word'])
  assert.deepEqual(second, [{ number: 3, word: 'new' }])
  assert.deepEqual(third, [{ word: 'other' }])
  assert.deepEqual(await connection.run([everything]), [[{ number: 3, word: 'new' }]])
})

test('within an explicit transaction the same is an error: all of it must begin again', async () => {
  const everything = sql`select * from changing`
  await connection.run([everything])
  await db.asSuperuser('alter table changing add column more text')
  await connection.run([sql`begin`])
  await assert.rejects(connection.run([everything]), /cached plan/)
  assert.equal(connection.transaction, 'failed')
  await connection.run([sql`rollback`])
  assert.equal(connection.transaction, 'none')
  assert.equal((await connection.run([everything])).length, 1)
})

test('a statement that cannot be parsed says so each time, and can be used once it is right', async () => {
  const early = sql`select wanted from not_yet_there`
  await Promise.all(
    [1, 2, 3].map(() => assert.rejects(connection.run([early]), /relation "not_yet_there" does not exist/)),
  )
  await db.asSuperuser(`create table not_yet_there as select 'now' as wanted`)
  await db.asSuperuser('grant select on not_yet_there to sallyport_app')
  assert.equal(await value(early), 'now')
})
