import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openHouse } from '../support/house.ts'
import { member, syncStage } from '../support/sync-stage.ts'

/** Who has a directory read, and when it is read by itself. */
const house = await openHouse()

suite('a directory cannot be read', async () => {
  const tenant = await house.tenant('Acme')
  const { tenant_id, owner } = tenant
  const call = (method: string, url: string, body?: unknown) =>
    house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })
  const made = async (body: object) =>
    `/v1/identity-providers/${(await call('POST', '/v1/identity-providers', { name: 'Directory', ...body })).body.id}`
  const refusal = async (url: string, body: object = {}) => {
    const { status, body: answer } = await call('POST', `${url}/sync`, body)
    return [status, answer.code, answer.message]
  }

  for (const provider_type of ['chat_service', 'code_hosting', 'incident_service', 'custom_scim']) {
    test(`by a provider of the type ${provider_type}, which pushes`, async () => {
      const [status, code, message] = await refusal(await made({ provider_type }))
      assert.deepEqual([status, code], [422, 'unprocessable'])
      assert.match(String(message), /is not read: its directory pushes over SCIM\. Create an API key/)
    })
  }

  test('before the config says how', async () => {
    for (const config of [{}, { protocol: 'ftp' }]) {
      const [status, , message] = await refusal(await made({ provider_type: 'directory_b', config }))
      assert.deepEqual([status, /`config.protocol`.*`scim` or `ldap`/.test(String(message))], [422, true])
    }
  })

  test('by a provider that is switched off, that does not exist, or of another tenant', async () => {
    const config = { protocol: 'ldap' }
    const off = await made({ provider_type: 'directory_c', config, enabled: false })
    assert.deepEqual((await refusal(off)).slice(0, 2), [422, 'unprocessable'])
    assert.deepEqual((await refusal(`/v1/identity-providers/${newId()}`)).slice(0, 2), [404, 'not_found'])
    const other = await syncStage(house, await house.tenant('Other'))
    assert.deepEqual((await refusal(other.url)).slice(0, 2), [404, 'not_found'])
  })

  test('as long as it may push, too', async () => {
    const { url, id, sync, run, claim, get } = await syncStage(house, tenant)
    const makeKey = () => call('POST', '/v1/api-keys', { name: 'scim', identity_provider_id: id })
    const key = await makeKey()
    assert.deepEqual([key.status, (await refusal(url))[0]], [201, 422])
    await call('DELETE', `/v1/api-keys/${key.body.id}`)
    assert.equal((await sync()).status, 'synced')
    const asked = await call('POST', `${url}/sync`, {})
    await makeKey()
    await run(await claim())
    const { status, error } = await get(String(asked.body.id))
    assert.deepEqual([status, /revoke the key/.test(String(error))], ['failed', true])
  })

  test('at an interval that is none', async () => {
    for (const sync_interval_minutes of [1, 2.5, -5, '60', 100_000]) {
      const { url } = await syncStage(house, tenant, { config: { sync_interval_minutes } })
      const [status, , message] = await refusal(url)
      assert.deepEqual(
        [status, /sync_interval_minutes` must be a whole number from 5/.test(String(message))],
        [422, true],
      )
    }
  })

  test('with flags that are none', async () => {
    for (const config of [{ dry_run: 'true' }, { sync_groups: 'false' }]) {
      const { url } = await syncStage(house, tenant, { config })
      const [status, , message] = await refusal(url)
      assert.deepEqual([status, /must be `true` or `false`/.test(String(message))], [422, true])
    }
    for (const config of [{ sync_users: false }, { sync_interval_seconds: 60 }, { schedule: '0 * * * *' }]) {
      const { url } = await syncStage(house, tenant, { config })
      const [status, , message] = await refusal(url)
      assert.deepEqual([status, /is not a setting/.test(String(message))], [422, true])
    }
  })

  test('by a config that nobody with the rights has written', async () => {
    const { url, id } = await syncStage(house, tenant)
    await house.asSuperuser('update identity_provider set configured_by = null where id = $1', [id])
    const [status, , message] = await refusal(url)
    assert.deepEqual([status, /send it again/.test(String(message))], [422, true])
  })

  test('by Identity Center without a provisioner that leads to its store', async () => {
    const provider_type = 'cloud_identity_center'
    const center = async (config: object) => refusal(await made({ provider_type, config }))
    for (const provisioner_id of [undefined, newId(), 'no id']) {
      const [status, , message] = await center({ provisioner_id })
      assert.deepEqual([status, /provisioner_id` must be the id of a provisioner/.test(String(message))], [422, true])
    }
    const provisioner_id = newId()
    const add = (config: object) =>
      house.asSuperuser(
        `insert into provisioner (tenant_id, id, name, provisioner_type, enabled, config)
          values ($1, $2, 'AWS', 'aws-identity-center', false, $3)
          on conflict (tenant_id, id) do update set config = excluded.config`,
        [tenant_id, provisioner_id, JSON.stringify(config)],
      )
    await add({ region: 'eu-west-1' })
    assert.match(String((await center({ provisioner_id }))[2]), /was not tested yet: test it first/)
    await add({
      region: 'eu-west-1',
      instance_arn: 'arn:aws:sso:::instance/ssoins-1',
      identity_store_id: 'd-1234567890',
    })
    for (const identity_store_id of [undefined, 'd-0000000000']) {
      assert.match(
        String((await center({ provisioner_id, identity_store_id }))[2]),
        /identity_store_id` must be `d-1234567890`/,
      )
    }
    const url = await made({ provider_type, config: { provisioner_id, identity_store_id: 'd-1234567890' } })
    assert.equal((await refusal(url))[0], 202)
  })
})

suite('a run', async () => {
  const stage = await syncStage(house, await house.tenant('Acme'))
  const { said, call, url, claim, run, get, sync, id, provider } = stage
  said.pages = [{ people: [member('a')] }]

  test('that is asked for again is the same run, and no other one', async () => {
    const first = await call('POST', `${url}/sync`, {})
    assert.equal(first.headers.location, `/v1/identity-providers/${id}/sync-runs/${first.body.id}`)
    const again = await call('POST', `${url}/sync`, {})
    assert.deepEqual([again.status, again.body.id], [202, first.body.id])
    const other = await call('POST', `${url}/sync`, { dry_run: true })
    assert.deepEqual([other.status, other.body.code], [409, 'sync_in_progress'])
    assert.deepEqual(other.body.details, { run_id: first.body.id })
    said.meanwhile = async () => {
      const { status, progress } = await get(String(first.body.id))
      assert.deepEqual([status, Object(progress).phase], ['syncing', 'reading'])
      assert.equal((await provider()).sync_status, 'syncing')
      assert.equal((await call('POST', `${url}/sync`, {})).body.id, first.body.id)
    }
    await run(await claim())
    said.meanwhile = async () => undefined
    assert.equal((await get(String(first.body.id))).status, 'synced')
  })

  test('is listed, the newest first, and is on record with who asked for it', async () => {
    const dry = await sync({ dry_run: true })
    const runs = await call('GET', `${url}/sync-runs?limit=2`)
    const rows = runs.body.data as Record<string, unknown>[]
    assert.deepEqual(
      rows.map(({ status, dry_run, requested_by }) => [status, dry_run, requested_by]),
      [
        ['pending', false, null],
        ['synced', true, stage.owner.user_id],
      ],
    )
    assert.equal(rows[1]?.id, dry.id)
    assert.equal(runs.body.has_more, true)
    const events = await house.asSuperuser<{ actor_id: string; data: object }>(
      "select actor_id, data from event where type = 'identity_provider.sync_requested' and subject_id = $1 order by seq",
      [id],
    )
    assert.deepEqual(
      events.map(({ actor_id, data }) => [actor_id, data]),
      [
        [stage.owner.user_id, { dry_run: false, confirms: null }],
        [stage.owner.user_id, { dry_run: true, confirms: null }],
      ],
    )
  })

  test('needs its scope, and its changes the one to read users', async () => {
    const { people, tenant_id } = stage
    const { id: run_id } = await sync()
    const role = await call('POST', '/v1/roles', { name: 'reads', scopes: ['identity_providers:read'] })
    await call('PUT', `/v1/users/${people.user.user_id}/roles`, { roles: [role.body.id] })
    const as = (method: string, path: string) =>
      house.call({
        method,
        url: `${url}${path}`,
        tenant_id,
        token: people.user.token,
        ...(method === 'POST' && { body: {} }),
      })
    assert.deepEqual(
      [
        (await as('POST', '/sync')).status,
        (await as('GET', '/sync-runs')).status,
        (await as('GET', `/sync-runs/${run_id}`)).status,
        (await as('GET', `/sync-runs/${run_id}/changes`)).status,
      ],
      [403, 200, 200, 403],
    )
  })

  test('of another provider is not found', async () => {
    const other = await syncStage(house, stage)
    said.pages = [{ people: [member('a', { title: 'Engineer' })] }]
    const { id: run_id } = await sync()
    assert.equal((await stage.changes(run_id)).length, 1)
    for (const path of ['', '/changes']) {
      assert.equal((await call('GET', `${other.url}/sync-runs/${run_id}${path}`)).status, 404)
    }
    assert.equal((await call('GET', `/v1/identity-providers/${newId()}/sync-runs`)).status, 404)
    assert.deepEqual((await call('GET', `${other.url}/sync-runs`)).body.data, [])
  })
})
