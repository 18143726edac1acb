import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** When a directory is read by itself, and what is kept of that. */
const house = await openHouse()

suite('the schedule', () => {
  const next = async (id: string) => {
    const rows = await house.asSuperuser<{ minutes: number; requested_by: string | null }>(
      `select round(extract(epoch from next_look_at - clock_timestamp()) / 60)::integer as minutes, requested_by
        from sync_run where identity_provider_id = $1 and finished_at is null`,
      [id],
    )
    return rows.map(({ minutes }) => minutes)
  }

  test('begins with the first run that is no dry one and succeeds', async () => {
    const { said, sync, id } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    assert.deepEqual(await next(id), [])
    await sync({ dry_run: true })
    assert.deepEqual(await next(id), [])
    await sync()
    assert.deepEqual(await next(id), [60])
  })

  test('is not put off by dry runs, nor ended by many failures', async () => {
    const { said, sync, id } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    const first = await sync()
    await house.asSuperuser(
      "update sync_run set next_look_at = next_look_at - interval '50 min' where identity_provider_id = $1 and finished_at is null",
      [id],
    )
    for (let times = 0; times < 2; times += 1) {
      assert.equal((await sync({ dry_run: true })).status, 'synced')
      assert.deepEqual(await next(id), [10])
    }
    await house.asSuperuser('delete from sync_run where id = $1', [first.id])
    said.pages = [{ people: [member('')] }]
    assert.equal((await sync()).status, 'failed')
    assert.deepEqual(await next(id), [60])
  })

  test('makes dry runs, if the config says so', async () => {
    const { said, sync, claim, run, id, call, url, users } = await syncStage(house, await house.tenant('Acme'))
    await sync()
    const config = { protocol: 'scim', base_url: 'https://directory.example/scim', token: '[redacted]', dry_run: true }
    assert.equal((await call('PATCH', url, { config })).status, 200)
    said.pages = [{ people: [member('a')] }]
    await house.asSuperuser(
      'update sync_run set next_look_at = now() where identity_provider_id = $1 and finished_at is null',
      [id],
    )
    await run(await claim())
    assert.deepEqual(await users(), [])
    assert.equal((await sync()).dry_run, true)
    assert.equal((await sync({ dry_run: false })).counts.added, 1)
  })

  test('goes on after a run by itself, and after one that failed', async () => {
    const { said, sync, claim, run, id, call, url } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    await sync()
    const due = () =>
      house.asSuperuser(
        'update sync_run set next_look_at = clock_timestamp() where identity_provider_id = $1 and finished_at is null',
        [id],
      )
    await due()
    await run(await claim())
    assert.deepEqual(await next(id), [60])
    said.pages = [{ people: [member('x'.repeat(601))] }]
    await due()
    await run(await claim())
    const { data } = (await call('GET', `${url}/sync-runs`)).body
    assert.deepEqual(
      (data as { status: string }[]).map(({ status }) => status),
      ['pending', 'failed', 'synced', 'synced'],
    )
    assert.deepEqual(await next(id), [60])
  })

  test('follows the config, and ends where the provider is off', async () => {
    const { said, sync, claim, run, id, call, url } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    await sync()
    const config = { protocol: 'scim', base_url: 'https://directory.example/scim', token: '[redacted]' }
    const set = async (more: object) => {
      const reply = await call('PATCH', url, more)
      assert.equal(reply.status, 200, reply.text)
    }
    await set({ config: { ...config, sync_interval_minutes: 5 } })
    assert.deepEqual(await next(id), [5])
    await set({ config: { ...config, sync_interval_minutes: 0 } })
    assert.deepEqual(await next(id), [])
    await set({ config: { ...config, sync_interval_minutes: 1440 } })
    assert.deepEqual(await next(id), [1440])
    await set({ enabled: false })
    await house.asSuperuser(
      'update sync_run set next_look_at = clock_timestamp() where identity_provider_id = $1 and finished_at is null',
      [id],
    )
    await run(await claim())
    assert.deepEqual(await next(id), [], 'nothing is read, and nothing fails')
    await set({ name: 'Another name' })
    assert.deepEqual(await next(id), [])
    await set({ enabled: true })
    assert.deepEqual(await next(id), [1440])
  })

  test('keeps the latest hundred runs, and what the latest ten did', async () => {
    const { said, sync, id, changes } = await syncStage(house, await house.tenant('Acme'))
    said.pages = [{ people: [member('a')] }]
    const first = await sync()
    assert.equal((await changes(first.id)).length, 1)
    await house.asSuperuser(
      `insert into sync_run (tenant_id, id, identity_provider_id, status, finished_at, created_at)
        select tenant_id, gen_random_uuid(), identity_provider_id, 'synced', finished_at + n * interval '1 ms',
          created_at
        from sync_run, generate_series(1, 98) as n where id = $1`,
      [first.id],
    )
    const count = async () =>
      (
        await house.asSuperuser<{ count: number }>(
          'select count(*)::integer from sync_run where identity_provider_id = $1 and finished_at is not null',
          [id],
        )
      )[0]?.count
    await sync()
    assert.deepEqual([await count(), await changes(first.id)], [100, []])
    await sync()
    assert.equal(await count(), 100)
  })
})
