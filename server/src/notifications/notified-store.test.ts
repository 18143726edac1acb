import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { testDatabase } from '../../test/support/database.ts'
import { idOf, seedManyPeople } from '../../test/support/many-people.ts'
import { outline, readingOf, recordingTx } from '../../test/support/rows-read.ts'
import type { Statement } from '../kernel/context.ts'
import { notifiedAmong } from './notified-store.ts'

const db = await testDatabase()
const batchSize = 500
const count = 20_000
const { tenant_id, groups } = await seedManyPeople(db.asSuperuser, count)
const [muted, notified] = [groups.everybody, groups.newest]
await db.asSuperuser(
  `insert into role (tenant_id, id, name, scopes)
    select $1::uuid, 'decides ' || n, 'R', '{requests:approve}' from generate_series(1, $2::integer) n`,
  [tenant_id, count],
)
await db.asSuperuser(
  `insert into group_role (tenant_id, group_id, role_id) values ($1, $2, 'decides 1'), ($1, $3, 'decides 2')`,
  [tenant_id, muted, notified],
)
await db.asSuperuser('update tenant_group set members_notified = false where tenant_id = $1 and id = $2', [
  tenant_id,
  muted,
])
/** Users who are all in the muted group, and about half of them in the notified one. Every 10th left. */
const users = await db.asSuperuser<{ id: string; is_notified: boolean }>(
  `select ${idOf('n')} as id, n > $1::integer * 0.9 as is_notified
    from generate_series(($1::integer * 0.9)::integer - 277, $1::integer) n where n % 10 <> 9 limit $2`,
  [count, batchSize],
)
const user_ids = users.map(({ id }) => id)

suite('who is notified of a batch of approvers', async () => {
  const { tx, statements } = recordingTx(db.database.tenant(tenant_id))

  test('is found in one round trip', async () => {
    const found = await notifiedAmong(tx, user_ids)
    assert.deepEqual(await notifiedAmong(tx, []), [])
    const expected = users.flatMap(({ id, is_notified }) => (is_notified ? [id] : []))
    assert.ok(expected.length > 0 && expected.length < batchSize)
    assert.deepEqual(found.toSorted(), expected.toSorted())
    assert.equal(statements.length, 1, 'and in none for no users')
  })

  // A small batch: for a large one, reading all of a table of this size is cheaper than finding each row.
  const few = 50
  // PostgreSQL 15 reads all roles of all groups, as long as it has no statistics.
  const mappings = (await db.asSuperuser('select from group_role where tenant_id = $1', [tenant_id])).length
  for (const state of ['new', 'analyzed']) {
    test(`is found by what these users hold, however many others there are: on ${state} tables`, async () => {
      if (state === 'analyzed') await db.asSuperuser('analyze')
      const recorded = recordingTx(db.database.tenant(tenant_id))
      await notifiedAmong(recorded.tx, user_ids.slice(0, few))
      for (const generic of [true, false]) {
        const { rows, plan } = await readingOf(db, tenant_id, recorded.statements[0] as Statement, generic)
        assert.ok(rows <= 10 * few + mappings, `${rows} rows, ${generic ? 'generic' : 'custom'} plan\n${outline(plan)}`)
      }
    })
  }
})
