import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { outline, readingOf, recordingTx } from '../../../test/support/rows-read.ts'
import { type Directory, openScimStage } from '../../../test/support/scim-stage.ts'
import { sql } from '../../db/sql.ts'
import type { DirectoryCtx } from '../../http/scim-operation.ts'
import type { Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import { guardRemoval } from './guard-removal.flow.ts'
import { countRemovals } from './removal-store.ts'

const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner } = acme

/** Calls of one key of a directory that has `size` users. */
async function directoryOf(size: number) {
  const directory = await makeDirectory()
  const users: { id: string; active: boolean; is_owner: boolean }[] = []
  for (let place = 0; place < size; place += 1) {
    const { id } = await directory.user({ userName: `${newId()}@example.com` })
    users.push({ id, active: true, is_owner: false })
  }
  const api_key_id = newId()
  const ctxOf = (key = api_key_id): DirectoryCtx => ({
    tx: house.database.tenant(tenant_id),
    actor: { kind: 'api_key', user_id: owner.user_id, api_key_id: key, scopes: new Set() },
    request_id: newId(),
    identity_provider_id: directory.id,
    author: owner.user_id,
  })
  return { directory, users, ctxOf }
}

const removalsOf = ({ id }: Directory) =>
  house.asSuperuser<{ size: number }>('select size from directory_removal where identity_provider_id = $1', [id])

suite('removals that wait at the same moment', () => {
  test('share a transaction, and each has its own answer and its own call', async () => {
    const { directory, users, ctxOf } = await directoryOf(6)
    const transactions = new Set<Tx>()
    const removed = await Promise.all(
      users.map((user, place) => {
        const ctx = ctxOf()
        return guardRemoval(ctx, { before: user, isCounted: true }, async (inside) => {
          transactions.add(inside.tx)
          assert.equal(inside.request_id, ctx.request_id)
          return place === 3 ? undefined : place
        })
      }),
    )
    assert.deepEqual(removed, [0, 1, 2, undefined, 4, 5])
    assert.equal(transactions.size, 1)
    assert.equal((await removalsOf(directory)).length, 5, 'one removed nobody')
  })

  test('fail alone', async () => {
    const { directory, users, ctxOf } = await directoryOf(5)
    const answers = await Promise.allSettled(
      users.map((user, place) =>
        guardRemoval(ctxOf(), { before: user, isCounted: true }, async ({ tx }) => {
          if (place === 1) throw new Error('of its own')
          if (place === 2) await tx.write([sql`select 1 / 0`])
          await tx.write([sql`select 1`])
          return true
        }),
      ),
    )
    const all = answers.map(({ status }) => status)
    assert.deepEqual(all, ['fulfilled', 'rejected', 'rejected', 'fulfilled', 'fulfilled'])
    assert.equal(String((answers[1] as PromiseRejectedResult).reason), 'Error: of its own')
    assert.equal((await removalsOf(directory)).length, 3)
  })

  test('by two keys have a transaction each: each key is proved for its own', async () => {
    const { users, ctxOf } = await directoryOf(2)
    const transactions = new Set<Tx>()
    const remove = async ({ tx }: DirectoryCtx) => transactions.add(tx)
    await Promise.all(users.map((user) => guardRemoval(ctxOf(newId()), { before: user, isCounted: true }, remove)))
    assert.equal(transactions.size, 2)
  })

  test('leave an owner to a transaction of their own, which locks all owners at once', async () => {
    const { users, ctxOf } = await directoryOf(3)
    const transactions: Tx[] = []
    const remove = async ({ tx }: DirectoryCtx) => transactions.push(tx)
    const all = users.map((user, place) => ({ ...user, is_owner: place === 1 }))
    await Promise.all(all.map((user) => guardRemoval(ctxOf(), { before: user, isCounted: true }, remove)))
    assert.equal(new Set(transactions).size, 2)
  })

  test('count those of other directories of the tenant for themselves', async () => {
    const [one, other] = [await directoryOf(2), await directoryOf(3)]
    const remove = async () => true
    await Promise.all(
      [one, other].flatMap(({ users, ctxOf }) =>
        users.map((user) => guardRemoval(ctxOf(), { before: user, isCounted: true }, remove)),
      ),
    )
    assert.deepEqual([(await removalsOf(one.directory)).length, (await removalsOf(other.directory)).length], [2, 3])
  })
})

/** A join of two tables that PostgreSQL believes to be small reads the one for each row of the other. */
test('the first removal after an import reads each user once', async () => {
  const { directory, users, ctxOf } = await directoryOf(1)
  const size = 1_500
  await house.asSuperuser(
    `with u as (
        insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
        select $1, gen_random_uuid(), name || '@many.example', name || '@many.example', name, 'oidc'
        from (select 'Person ' || n as name from generate_series(1, $3::integer) n) names returning *)
      insert into directory_user (tenant_id, user_id, identity_provider_id, user_name_key, resource)
      select tenant_id, id, $2, email_key, '{}' from u`,
    [tenant_id, directory.id, size],
  )
  const recorded: ReturnType<typeof recordingTx> = recordingTx(house.database.tenant(tenant_id))
  const counted = await countRemovals({ ...ctxOf(), tx: recorded.tx }, users.length)
  assert.equal(counted.size, size + 2)
  await house.asSuperuser('delete from directory_removal where identity_provider_id = $1', [directory.id])
  const counting = recorded.statements.find(({ text }) => text.includes('insert into directory_removal'))
  if (counting === undefined) throw new Error('nothing was counted')
  for (const generic of [true, false]) {
    const { rows, plan } = await readingOf(house, tenant_id, counting, generic)
    assert.ok(rows < 2.5 * size, outline(plan))
  }
})
