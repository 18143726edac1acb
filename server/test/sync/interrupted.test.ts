import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { TargetError } from '../../src/provisioners/driver.ts'
import { openHouse } from '../support/house.ts'
import { member, type SyncStage, syncStage } from '../support/sync-stage.ts'

/** What becomes of a run that fails, that is interrupted, or that is not to go on. */
const house = await openHouse()
const stageOf = async () => syncStage(house, await house.tenant('Acme'))
const statusOf = async ({ users }: SyncStage) => (await users()).map(({ external_id, active }) => [external_id, active])

suite('a directory that fails', () => {
  test('in the middle changes nothing: what is here stays as it was', async () => {
    const stage = await stageOf()
    const { said, sync, provider } = stage
    said.pages = [{ people: [member('a')] }, { people: [member('b')] }]
    await sync()
    said.pages = [{ people: [member('a', { active: false }), member('c')] }, { people: [member('b')] }]
    said.meanwhile = async (page) => {
      if (page === 1) throw new TargetError('permanent', 'the directory refuses the token: renew it')
    }
    const run = await sync()
    assert.deepEqual([run.status, run.error, run.counts], ['failed', 'the directory refuses the token: renew it', null])
    assert.deepEqual(await statusOf(stage), [
      ['a', true],
      ['b', true],
    ])
    const { sync_status, sync_error, last_synced_at } = await provider()
    assert.deepEqual([sync_status, sync_error], ['failed', run.error])
    assert.equal(typeof last_synced_at, 'string', 'the last good reading is still known')
  })

  test('is reported once until it is read again', async () => {
    const { said, sync, id } = await stageOf()
    const reports = () =>
      house.asSuperuser("select id from event where type = 'identity_provider.sync_failed' and subject_id = $1", [id])
    const fails = async () => {
      throw new TargetError('permanent', 'the directory is gone')
    }
    said.pages = [{}]
    for (const [meanwhile, count] of [
      [fails, 1],
      [fails, 1],
      [async () => undefined, 1],
      [fails, 2],
    ] as const) {
      said.meanwhile = meanwhile
      await sync()
      assert.equal((await reports()).length, count)
    }
  })

  test('for a moment is read again from its beginning, and fails in the end', async () => {
    const { said, call, url, run, claim, get, id } = await stageOf()
    said.pages = [{ people: [member('a')] }, {}]
    said.meanwhile = async (page) => {
      if (page === 1) throw new TargetError('transient', 'the directory is busy')
    }
    const asked = await call('POST', `${url}/sync`, {})
    const due = 'update sync_run set next_look_at = clock_timestamp() where identity_provider_id = $1 returning id'
    for (let attempt = 1; attempt < 5; attempt += 1) {
      await run(await claim())
      assert.equal((await get(String(asked.body.id))).status, 'syncing')
      const [waits] = await house.asSuperuser<{ seconds: number }>(
        'select extract(epoch from next_look_at - clock_timestamp())::float8 as seconds from sync_run where identity_provider_id = $1',
        [id],
      )
      assert.ok(Number(waits?.seconds) > 5, 'it waits')
      await house.asSuperuser(due, [id])
    }
    await run(await claim())
    const { status, error } = await get(String(asked.body.id))
    assert.deepEqual([status, error], ['failed', 'the directory is busy'])
  })
})

suite('a run that is interrupted', () => {
  test('while it reads begins again, without what it had read', async () => {
    const stage = await stageOf()
    const { said, call, url, claim, run, get } = stage
    said.pages = [{ people: [member('gone-meanwhile')] }, { people: [member('b')] }]
    const asked = await call('POST', `${url}/sync`, {})
    said.meanwhile = async (page) => {
      if (page === 1) throw new Error('the process dies')
    }
    await assert.rejects(run(await claim()), /the process dies/)
    await house.asSuperuser('update sync_run set lease_until = null where id = $1', [asked.body.id])
    said.pages = [{ people: [member('b')] }]
    said.meanwhile = async () => undefined
    await run(await claim())
    assert.equal((await get(String(asked.body.id))).counts.people, 1)
    assert.deepEqual(await statusOf(stage), [['b', true]])
  })

  test('while it writes goes on, without reading again', async () => {
    const stage = await stageOf()
    const { said, call, url, claim, run, get } = stage
    said.pages = [{ people: [member('a'), member('b'), member('c')] }]
    const asked = await call('POST', `${url}/sync`, {})
    // The process dies after it wrote the first one.
    await house.asSuperuser(
      `create function fail_on_c() returns trigger language plpgsql as $$
        begin if new.external_id = 'c' then raise exception 'the process dies'; end if; return new; end $$`,
    )
    await house.asSuperuser(
      'create trigger fail_on_c before insert on directory_user for each row execute function fail_on_c()',
    )
    await assert.rejects(run(await claim()), /the process dies/)
    await house.asSuperuser('drop trigger fail_on_c on directory_user')
    await house.asSuperuser('update sync_run set lease_until = null where id = $1', [asked.body.id])
    said.meanwhile = () => Promise.reject(new Error('it reads again'))
    await run(await claim())
    const { status, counts, progress } = await get(String(asked.body.id))
    assert.deepEqual([status, counts.people, progress], ['synced', 3, { ...Object(progress), done: 3, total: 3 }])
    assert.deepEqual([counts.added, counts.failed], [3, 0], 'who was made before the end counts as made')
    assert.equal((await statusOf(stage)).length, 3)
  })

  test('begins a few times only', async () => {
    const { said, call, url, claim, run, get } = await stageOf()
    said.pages = [{}]
    said.meanwhile = () => Promise.reject(new Error('the process dies'))
    const asked = await call('POST', `${url}/sync`, {})
    const again = () => house.asSuperuser('update sync_run set lease_until = null where id = $1', [asked.body.id])
    for (let times = 0; times < 5; times += 1) {
      await assert.rejects(run(await claim()), /the process dies/)
      await again()
    }
    await run(await claim())
    const { status, error } = await get(String(asked.body.id))
    assert.deepEqual(
      [status, error],
      ['failed', 'the run was interrupted 5 times; what it had written stays: look at its changes, and sync again'],
    )
  })
})

suite('a run that is not to go on', () => {
  const meanwhiles: Record<string, (stage: SyncStage) => Promise<unknown>> = {
    'because another worker has it': (stage) =>
      stage.house.asSuperuser('update sync_run set generation = generation + 1 where identity_provider_id = $1', [
        stage.id,
      ]),
    'because its provider is switched off': ({ call, url }) => call('PATCH', url, { enabled: false }),
    'because its provider is deleted': ({ call, url }) => call('DELETE', url),
    'because another directory is to be read': ({ call, url }) =>
      call('PATCH', url, { config: { protocol: 'scim', base_url: 'https://other.example', token: 'another' } }),
    'because its tenant is suspended': ({ house, tenant_id }) =>
      house.asSuperuser('update tenant set suspended_at = clock_timestamp() where id = $1', [tenant_id]),
  }
  for (const [why, meanwhile] of Object.entries(meanwhiles)) {
    test(`${why} changes nobody any more`, async () => {
      const stage = await stageOf()
      const { said, call, url, claim, run, tenant_id } = stage
      said.pages = [{ people: [member('a')] }, { people: [member('b')] }]
      await call('POST', `${url}/sync`, {})
      said.meanwhile = async (page) => {
        if (page === 1) await meanwhile(stage)
      }
      await run(await claim())
      const made = await house.asSuperuser(
        "select id from tenant_user where tenant_id = $1 and email like '%@example.com' and auth_provider = 'oidc'",
        [tenant_id],
      )
      assert.deepEqual(made, [])
    })

    test(`${why} while it writes changes nobody any more`, async () => {
      const stage = await stageOf()
      const { said, call, url, claim, run } = stage
      said.pages = [{ people: Array.from({ length: 60 }, (_, index) => member(`p${index}`)) }]
      await call('POST', `${url}/sync`, {})
      const item = await claim()
      let written = 0
      let stopped: Promise<unknown> | undefined
      // After ten, all others wait until the run is not to go on; eight may be under way.
      await run(item, async () => {
        written += 1
        if (written > 10) stopped ??= meanwhile(stage)
        await stopped
      })
      assert.ok(stopped !== undefined, 'it was interrupted')
      const made = await house.asSuperuser(
        "select id from tenant_user where tenant_id = $1 and auth_provider = 'oidc' and email like 'p%@example.com'",
        [stage.tenant_id],
      )
      assert.ok(made.length <= 10, `${made.length} were made`)
    })
  }

  test('waits as long as its tenant is suspended', async () => {
    const stage = await stageOf()
    const { said, sync, claim, run, tenant_id, id, users } = stage
    await sync()
    const set = (suspended_at: string) =>
      house.asSuperuser(`update tenant set suspended_at = ${suspended_at} where id = $1`, [tenant_id])
    const due = () =>
      house.asSuperuser(
        'update sync_run set next_look_at = now() where identity_provider_id = $1 and finished_at is null',
        [id],
      )
    await set('clock_timestamp()')
    said.pages = [{ people: [member('a')] }]
    await due()
    await run(await claim())
    assert.deepEqual(await users(), [])
    await set('null')
    await due()
    await run(await claim())
    assert.equal((await users()).length, 1)
  })

  test('is noticed also where pages have nothing to save', async () => {
    const { said, call, url, claim, run } = await stageOf()
    said.pages = Array.from({ length: 50 }, () => ({}))
    let asked = 0
    said.meanwhile = async (page) => {
      asked = page
      if (page === 5) await call('DELETE', url)
    }
    await call('POST', `${url}/sync`, {})
    await run(await claim())
    assert.ok(asked < 20, `${asked} pages were read`)
  })

  test('ends as failed, if a person asked for it and the provider is off', async () => {
    const stage = await stageOf()
    const { call, url, claim, run, get } = stage
    const asked = await call('POST', `${url}/sync`, {})
    await call('PATCH', url, { enabled: false })
    await run(await claim())
    const { status, error } = await get(String(asked.body.id))
    assert.deepEqual(
      [status, error],
      ['failed', 'the identity provider is switched off; set `enabled` to true, and sync again'],
    )
    const [row] = await house.asSuperuser<{ next_look_at: Date | null }>(
      'select next_look_at from sync_run where id = $1',
      [asked.body.id],
    )
    assert.equal(row?.next_look_at, null)
  })
})
