import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failing, note, noteTable, readNote } from '../../../test/support/note-table.ts'
import { rawStatement } from '../../../test/support/raw-statement.ts'
import { sql } from '../sql.ts'

const { db, connected, run, value } = await noteTable()

test('many concurrent first uses of one statement all succeed', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => run([sql`select ${index}::int as number`])),
  )
  assert.deepEqual(
    answers.map(([rows]) => rows),
    Array.from({ length: 50 }, (_, number) => [{ number }]),
  )
})

test('a first use after an error in its batch leaves the statement usable for later batches', async () => {
  const fresh = sql`select ${'fresh'}::text as word`
  const outcomes = await Promise.allSettled([run([failing, fresh]), run([fresh]), run([fresh, fresh])])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

test('statements beyond the limit of a connection are evicted, the oldest first, and still run', async () => {
  const numbered = (number: number) => rawStatement(`select ${number} as number`)
  const numbers = Array.from({ length: 520 }, (_, number) => number)
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(numbers.map((number) => run([numbered(number)])))
    assert.deepEqual(
      answers.map(([rows]) => rows),
      numbers.map((number) => [{ number }]),
    )
  }
  const count = await value(sql`select count(*)::int from pg_prepared_statements`)
  assert.ok((count as number) <= 502, `${count} are kept`)
})

test('prepared statements that are gone are prepared again, and a write is done once', async () => {
  await run([note('one'), readNote('one')])
  await run([sql`deallocate all`])
  const [, , seen] = await Promise.all([
    run([note('two'), readNote('two')]),
    run([note('three'), readNote('three')]),
    run([readNote('two'), readNote('three')]),
  ])
  assert.deepEqual(seen, [[{ said: 'yes' }], [{ said: 'yes' }]])
})

test('a prepared statement is prepared again after a change of its table', async () => {
  await db.asSuperuser(`create table changing as select 1 as number`)
  await db.asSuperuser('grant select, update on changing to sallyport_app')
  const everything = sql`select * from changing`
  const add = sql`update changing set number = number + 1 returning *`
  assert.deepEqual(await run([everything]), [[{ number: 1 }]])
  assert.deepEqual(await run([add]), [[{ number: 2 }]])
  await db.asSuperuser(`alter table changing add column word text default 'new'`)
  const [[first], [second], [third]] = (await Promise.all([
    run([everything]),
    run([add, everything]),
    run([sql`select ${'other'}::text as word`]),
  ])) as [unknown[][], unknown[][], unknown[][]]
  assert.deepEqual(Object.keys(first?.[0] ?? {}), ['number', 'word'])
  assert.deepEqual(second, [{ number: 3, word: 'new' }])
  assert.deepEqual(third, [{ word: 'other' }])
  assert.deepEqual(await run([everything]), [[{ number: 3, word: 'new' }]])
})

test('a prepared statement fails in an explicit transaction after a change of its table', async () => {
  const everything = sql`select * from changing`
  await run([everything])
  await db.asSuperuser('alter table changing add column more text')
  await run([sql`begin`])
  await assert.rejects(run([everything]), /cached plan/)
  assert.equal(connected().transaction, 'failed')
  await run([sql`rollback`])
  assert.equal(connected().transaction, 'none')
  assert.equal((await run([everything])).length, 1)
})

test('a statement that cannot be parsed fails each time, and can be used once it is valid', async () => {
  const early = sql`select wanted from not_yet_there`
  await Promise.all([1, 2, 3].map(() => assert.rejects(run([early]), /relation "not_yet_there" does not exist/)))
  await db.asSuperuser(`create table not_yet_there as select 'now' as wanted`)
  await db.asSuperuser('grant select on not_yet_there to sallyport_app')
  assert.equal(await value(early), 'now')
})
