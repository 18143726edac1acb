import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../../test/support/house.ts'
import { replayStage } from '../../../test/support/replay-stage.ts'
import { until } from '../../../test/support/wait.ts'
import { startWorkers } from '../../../test/support/workers.ts'
import { claimDue, releaseLeases, type WorkItem } from '../../jobs/claim.ts'
import { endReplay, openReplay, saveProgress } from './replay-store.ts'
import { runReplay } from './run-replay.job.ts'

const house = await openHouse()
const { stage, begun, read, replayed } = replayStage(house)

suite('a replay', () => {
  const claimed = async (): Promise<WorkItem> => {
    const claimQuery = { table: 'policy_replay', part: undefined, max: 1, maxPerTenant: 1, without: [] } as const
    const [claim] = await claimDue(house.database, [claimQuery])
    const [item] = claim?.items ?? []
    assert.ok(item !== undefined)
    return item
  }

  test('whose process dies starts again, and the lost run writes nothing more', async () => {
    const on = await stage()
    await on.rule('permit (principal, action, resource);')
    await on.ask(on.account('600000000001'))
    const { id } = await begun(on, { policies: [] })
    const tx = house.database.tenant(on.tenant_id)
    const dead = await claimed()
    assert.ok((await openReplay(tx, dead)) !== undefined)
    assert.equal(await saveProgress(tx, dead, 1, 7), true)
    const { status, asked, total } = await read(on, id)
    assert.deepEqual([status, asked, total], ['running', 1, 7])

    await house.asSuperuser(`update policy_replay set lease_until = clock_timestamp() where id = $1`, [id])
    const heir = await claimed()
    assert.equal(await saveProgress(tx, dead, 5, 7), false, 'another run has the lease')
    assert.equal(await saveProgress(tx, heir, 2, 7), true)
    await releaseLeases(house.database, 'policy_replay', [heir])
    assert.equal(await saveProgress(tx, heir, 3, 7), false, 'the lease was released')
    const workers = startWorkers(house, [runReplay])
    const done = await until('the replay is over', async () => {
      const replay = await read(on, id)
      return replay.status === 'done' && replay
    })
    await workers.stop()
    assert.deepEqual([done.asked, done.total, done.result?.counts.newly_denied], [1, 1, 1])
    await endReplay(tx, dead, { status: 'failed', error: { code: 'internal', message: 'late' } })
    assert.deepEqual(await read(on, id), done)
  })

  test('that was interrupted too often fails', async () => {
    const on = await stage()
    const { id } = await begun(on, { policies: [] })
    await house.asSuperuser('update policy_replay set attempts = 3 where id = $1', [id])
    const workers = startWorkers(house, [runReplay])
    const failed = await until('the replay is over', async () => {
      const replay = await read(on, id)
      return replay.finished_at !== null && replay
    })
    await workers.stop()
    assert.deepEqual([failed.status, failed.error?.code, failed.result], ['failed', 'internal', null])
  })

  test('is refused while another one of the tenant is in progress', async () => {
    const on = await stage()
    const replies = await Promise.all(
      [1, 2, 3].map(() => on.call(on.owner, 'POST', '/v1/policies/replay', { draft: { changes: [] } })),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [202, 409, 409])
    const id = replies.find(({ status }) => status === 202)?.body.id
    for (const { body } of replies.filter(({ status }) => status === 409)) {
      assert.deepEqual([body.code, (body.details as { replay_id: string }).replay_id], ['replay_in_progress', id])
    }
  })

  test('is kept for some days, up to a maximum per tenant', async () => {
    const on = await stage()
    const { id } = await begun(on, { changes: [] })
    await house.asSuperuser(
      `insert into policy_replay (tenant_id, id, status, draft, days, error, finished_at, next_look_at)
        select tenant_id, gen_random_uuid(), 'failed', draft, 1, '{}', clock_timestamp(),
          clock_timestamp() + interval '1 day'
        from policy_replay, generate_series(1, 30) where id = $1`,
      [id],
    )
    const workers = startWorkers(house, [runReplay])
    await until('the replay is over', async () => (await read(on, id)).status === 'done')
    await begun(on, { changes: [] })
    const kept = () => house.asSuperuser('select id from policy_replay where tenant_id = $1', [on.tenant_id])
    assert.equal((await kept()).length, 20)
    await house.asSuperuser(
      `update policy_replay set next_look_at = clock_timestamp() where tenant_id = $1 and finished_at is not null`,
      [on.tenant_id],
    )
    await until('the old replays are deleted', async () => (await kept()).length === 1)
    await workers.stop()
  })

  test('reports a fault of its draft in the reply, or for a long draft in its result', async () => {
    const on = await stage()
    const rules = [{ policy_text: 'nonsense' }]
    const at_once = await on.call(on.owner, 'POST', '/v1/policies/replay', {
      draft: { policies: [{ name: 'a', rules }] },
    })
    assert.deepEqual([at_once.status, at_once.body.code], [400, 'invalid_policy'])
    const many = [...rules, ...Array.from({ length: 1_000 }, () => ({ effect: 'permit' }))]
    const later = await replayed(on, { policies: [{ name: 'a', rules: many }] })
    assert.equal(later.status, 'failed')
    assert.deepEqual(later.error, {
      code: 'invalid_policy',
      message: at_once.body.message,
      details: at_once.body.details,
    })
  })

  test('needs the scopes to read policies and the audit log', async () => {
    const on = await stage()
    const key = async (scopes: string[]) =>
      (await on.created(on.owner, '/v1/api-keys', { name: 'a key', scopes })).key as string
    const [plain, auditor] = [await key(['policies:read']), await key(['policies:read', 'audit:read'])]
    const post = (api_key: string) =>
      house.call({
        ...{ method: 'POST', url: '/v1/policies/replay', tenant_id: on.tenant_id },
        ...{ api_key, body: { draft: { changes: [] } } },
      })
    const refused = await post(plain)
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden'])
    const { status, body } = await post(auditor)
    assert.equal(status, 202)
    const get = (api_key: string) =>
      house.call({ method: 'GET', url: `/v1/policies/replay/${body.id}`, tenant_id: on.tenant_id, api_key })
    assert.deepEqual([(await get(plain)).status, (await get(auditor)).status], [403, 200])
    assert.deepEqual(
      (await on.eventsOf(String(body.id))).map(({ type, data }) => [type, data]),
      [['policy.replayed', { days: 30 }]],
    )
  })
})
