import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Type } from 'typebox'
import { testDatabase } from '../../test/support/database.ts'
import { sliceServer } from '../../test/support/slice-server.ts'
import { sql } from '../db/sql.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { type EntryAnswer, operation } from './operation.ts'

/** An operation in entries: each writes a setting, and then does what its name says. */
const db = await testDatabase()

/** The entries and turns that wait, by name: they were reached, and they can go on. */
const gates = new Map<string, { reached: PromiseWithResolvers<void>; open: PromiseWithResolvers<void> }>()
function gate(name: string) {
  const made = gates.get(name) ?? { reached: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() }
  gates.set(name, made)
  return made
}
async function pass(name: string): Promise<void> {
  const { reached, open } = gate(name)
  reached.resolve()
  await open.promise
}

const doEach = operation({
  method: 'POST',
  path: '/v1/entries',
  summary: 'Do the entries',
  credential: 'any',
  scope: null,
  body: Type.Object({ entries: Type.Array(Type.String()) }),
  replies: { 200: Type.Object({ results: Type.Array(Type.Unknown()) }) },
  errors: [],
  inEntries: true,
  async run(_ctx, { body, header, answerEntry }) {
    const results: EntryAnswer<string>[] = []
    for (const name of body.entries) {
      const answer = await answerEntry({
        name,
        inTurn: async (run) => {
          if (name === header('x-waits-for')) await pass('turn')
          return run()
        },
        async work({ tx }) {
          await tx.write([
            sql`insert into setting (tenant_id, key, value) values (${tx.tenant_id}, ${name}, '')
              on conflict (tenant_id, key) do update set value = setting.value || '+'`,
          ])
          if (name === 'wait') await pass('work')
          if (name === 'refuse') throw new Problem('forbidden', 'it may not be')
          if (name === 'ask_again') throw new Problem('version_conflict', 'try again')
          if (name === 'break') throw new Error('a fault')
          return `done ${name}`
        },
      })
      results.push(answer)
    }
    return { results }
  },
})

const refused: string[] = []
let writes = 0
const call = await sliceServer(
  db.database,
  { doEach },
  {
    recordRefusal: async (_ctx, operationId, { code }) => {
      refused.push(`${operationId} ${code}`)
    },
    afterWrite: () => {
      writes += 1
    },
  },
)

async function stage() {
  const tenant_id = newId()
  await db.database.tenant(tenant_id).write([sql`insert into tenant (id, name) values (${tenant_id}, 'somebody')`])
  const caller = { tenant_id, user_id: newId() }
  return {
    do: (entries: string[], headers: Record<string, string> = {}) =>
      call(caller, 'POST', '/v1/entries', { entries }, headers),
    /** What was written, with a plus for each time that it was written again. */
    held: async () => {
      const rows = await db.asSuperuser<{ key: string; value: string }>(
        'select key, value from setting where tenant_id = $1 order by key',
        [tenant_id],
      )
      return rows.map(({ key, value }) => `${key}${value}`)
    },
  }
}

const statuses = (body: Record<string, unknown>) => (body.results as { status: number }[]).map(({ status }) => status)
const all = ['a', 'refuse', 'ask_again', 'break', 'b']

suite('an operation in entries', () => {
  test('answers each as a call of its own would, and records its refusal', async () => {
    const { do: act, held } = await stage()
    refused.length = 0
    writes = 0
    const { body } = await act(all)
    assert.deepEqual(statuses(body), [200, 403, 409, 500, 200])
    assert.deepEqual((body.results as unknown[]).slice(0, 2), [
      { status: 200, result: 'done a' },
      { status: 403, error: { code: 'forbidden', message: 'it may not be' } },
    ])
    assert.deepEqual(refused, ['doEach forbidden'])
    assert.ok(writes > all.length, 'the workers are woken after each')
    // Without a key, what an entry wrote before its error is committed, as in a call of its own.
    assert.deepEqual(await held(), ['a', 'ask_again', 'b', 'break', 'refuse'])
  })

  test('with a key keeps the answers and the refusals; what is no answer is done again', async () => {
    const { do: act, held } = await stage()
    refused.length = 0
    const headers = { 'idempotency-key': 'k' }
    const first = await act(all, headers)
    assert.deepEqual(statuses(first.body), [200, 403, 409, 500, 200])
    assert.deepEqual(await held(), ['a', 'ask_again', 'b', 'refuse'], 'a fault rolls its entry back')
    assert.deepEqual(await act(all, headers), first)
    assert.deepEqual(await held(), ['a', 'ask_again+', 'b', 'refuse'])
    assert.deepEqual(refused, ['doEach forbidden'], 'once')
  })

  test('does each entry once when two processes do one call; the one that meets the other is 409', async () => {
    const { do: act, held } = await stage()
    const headers = { 'idempotency-key': 'k' }
    const first = act(['a', 'wait', 'b'], { ...headers, 'x-waits-for': 'wait' })
    await gate('turn').reached.promise
    // The first has no lock now: the second goes on from there.
    const second = act(['a', 'wait', 'b'], headers)
    await gate('work').reached.promise
    gate('turn').open.resolve()
    const { status, body } = await first
    assert.deepEqual([status, body.code], [409, 'idempotency_in_progress'])
    gate('work').open.resolve()
    assert.deepEqual(statuses((await second).body), [200, 200, 200])
    assert.deepEqual(await act(['a', 'wait', 'b'], headers), await second)
    assert.deepEqual(await held(), ['a', 'b', 'wait'])
  })
})
