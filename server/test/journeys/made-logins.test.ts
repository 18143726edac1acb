import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type pg from 'pg'
import { newId } from '../../src/kernel/id.ts'
import { markOf } from '../../src/provisioners/postgresql/made-mark.ts'
import { ageGrants } from '../support/age-grants.ts'
import type { Page } from '../support/client.ts'
import { configOf, letMakeLogins, setUpByGuide } from '../support/postgresql-stage.ts'
import { type Person, startOnTestServer } from '../support/sallyport.ts'
import { withSecondFactor } from '../support/strong-sign-in.ts'
import { startTargetPostgres } from '../support/target-postgres.ts'
import { until } from '../support/wait.ts'

type Grant = {
  id: string
  status: string
  provisioning_status: string
  last_error: string | null
  expires_at: string
  connect?: { postgresql: { login: string; makes_credentials?: boolean } }
}
type Credentials = { user: string; password: string; valid_until: string; code?: string; message?: string }

const account = '111111111111'
const database = `arn:aws:rds:eu-west-1:${account}:db:orders`

suite('a user signs in to a customer’s PostgreSQL with a login that was made for the grant', async () => {
  const server = await startTargetPostgres(18, { log_statement: `'all'` })
  after(server.stop)
  await setUpByGuide(server)
  await letMakeLogins(server)
  const sallyport = await startOnTestServer({ EGRESS_ALLOW: '127.0.0.1,localhost' })
  const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'Reading' })
  await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
  const approver = await withSecondFactor(sallyport, await sallyport.join('Bob', ['approver']))
  const ada = await sallyport.join('Ada', ['user'])
  const config = configOf(server, { resource_ids: [database], makes_logins: true })
  const made = await owner<{ id: string }>('POST', '/v1/provisioners', {
    name: 'orders',
    provisioner_type: 'postgresql',
    config,
    serves: [{ resource_type: 'cloud_db_instance', account_ids: [account] }],
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))

  const given = async (person: Person, hours = 1, resource = database): Promise<Grant> => {
    const created = await person.call<{ id: string }>('POST', '/v1/requests', {
      resource: { type: 'cloud_db_instance', id: resource },
      action: 'read',
      reason: 'a look',
      duration_seconds: hours * 3_600,
    })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    await approver.call('POST', `/v1/requests/${created.body.id}/approve`, {})
    return until('the grant is active', async () => {
      const { body } = await person.call<Page<Grant>>('GET', `/v1/grants?request_id=${created.body.id}`)
      const [grant] = body.data
      assert.notEqual(grant?.status, 'failed', grant?.last_error ?? '')
      return grant?.status === 'active' && grant
    })
  }
  const credentials = (of: Person, id: string, headers = {}) =>
    of.call<Credentials>('POST', `/v1/grants/${id}/credentials`, {}, headers)
  const find = async (id: string) => (await owner<Grant>('GET', `/v1/grants/${id}`)).body
  const revoke = async (id: string) => {
    const revoked = await owner('POST', `/v1/grants/${id}/revoke`, {})
    assert.equal(revoked.status, 200, JSON.stringify(revoked.body))
  }
  const isGone = (id: string) =>
    until('it is gone', async () => (await find(id)).provisioning_status === 'deprovisioned', 60_000)
  const eventsOf = (id: string, type: string) =>
    sallyport.asSuperuser<{ data: Record<string, unknown>; actor_id: string | null }>(
      'select data, actor_id from event where subject_id = $1 and type = $2 order by seq',
      [id, type],
    )
  const read = async (client: pg.Client) => (await client.query('select number from orders')).rows

  test('the holder gets a password, and each further one ends the one before, also with the same key (S9)', async () => {
    const grant = await given(ada)
    const { login, makes_credentials } = grant.connect?.postgresql ?? {}
    assert.equal(makes_credentials, true)
    const key = { 'idempotency-key': newId() }
    const first = await credentials(ada, grant.id, key)
    assert.deepEqual(
      [first.status, first.body.user, first.body.valid_until, first.headers.get('cache-control')],
      [200, login, grant.expires_at, 'no-store'],
    )
    assert.deepEqual(await read(await server.signIn(first.body.user, first.body.password)), [{ number: 42 }])
    const second = await credentials(ada, grant.id, key)
    assert.notEqual(second.body.password, first.body.password)
    await assert.rejects(server.signIn(first.body.user, first.body.password), /password authentication failed/)
    await server.signIn(second.body.user, second.body.password)
    const issued = await eventsOf(grant.id, 'grant.credentials_issued')
    assert.deepEqual(
      issued.map(({ data, actor_id }) => [data.login, actor_id]),
      [
        [login, ada.id],
        [login, ada.id],
      ],
    )
    await isNowhere([first.body.password, second.body.password])
    await revoke(grant.id)
    await isGone(grant.id)
    await assert.rejects(server.signIn(second.body.user, second.body.password), /password authentication failed/)
    const late = await credentials(ada, grant.id)
    assert.deepEqual([late.status, late.body.code], [409, 'grant_not_live'])
  })

  /** No table of Sallyport and no log of the target has any of the texts. */
  async function isNowhere(passwords: readonly string[]): Promise<void> {
    const log = await server.log()
    assert.match(log, /alter role "ada\w+" password 'SCRAM-SHA-256\$/, 'it logs all statements')
    for (const password of passwords) assert.ok(!log.includes(password))
    const tables = await sallyport.asSuperuser<{ name: string }>(
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE'`,
    )
    for (const { name } of tables) {
      for (const password of passwords) {
        const rows = await sallyport.asSuperuser(`select 1 from ${name} t where strpos(t::text, $1) > 0 limit 1`, [
          password,
        ])
        assert.deepEqual(rows, [], name)
      }
    }
  }

  test('two calls at once both succeed, and exactly one password works', async () => {
    const grant = await given(ada)
    const all = await Promise.all(Array.from({ length: 4 }, () => credentials(ada, grant.id)))
    assert.deepEqual(
      all.map(({ status }) => status),
      [200, 200, 200, 200],
      JSON.stringify(all.map(({ body }) => body.message)),
    )
    const tried = await Promise.allSettled(all.map(({ body }) => server.signIn(body.user, body.password)))
    assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 1)
    await revoke(grant.id)
    await isGone(grant.id)
  })

  test('calls that race the end leave no login', async () => {
    const grant = await given(ada)
    let isOver = false
    const knocking = (async () => {
      while (!isOver) await credentials(ada, grant.id)
    })()
    await revoke(grant.id)
    await isGone(grant.id)
    isOver = true
    await knocking
    const { login } = grant.connect?.postgresql ?? {}
    assert.deepEqual(await server.asSuperuser('select 1 from pg_roles where rolname = $1', [login]), [])
  })

  test('nobody else gets one: not with an API key, and not another user', async () => {
    const grant = await given(ada)
    const eve = await sallyport.join('Eve', ['user'])
    const [byKey, byEve, byApprover] = [
      await owner<Credentials>('POST', `/v1/grants/${grant.id}/credentials`, {}),
      await credentials(eve, grant.id),
      await credentials(approver, grant.id),
    ]
    assert.deepEqual([byKey.status, byKey.body.code], [403, 'forbidden'])
    assert.deepEqual([byEve.status, byEve.body.code], [404, 'not_found'])
    assert.ok(byApprover.status === 403 || byApprover.status === 404)
    assert.deepEqual(await eventsOf(grant.id, 'grant.credentials_issued'), [])
    await revoke(grant.id)
    await isGone(grant.id)
  })

  test('an unreachable target answers 503 with the cause', async () => {
    const grant = await given(ada)
    const comeBack = await server.goAway('refuses')
    const refused = await credentials(ada, grant.id)
    await comeBack()
    assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable'])
    assert.match(refused.body.message ?? '', /cannot be reached/)
    await revoke(grant.id)
    await isGone(grant.id)
  })

  test('what its user made is reported once, and the login is dropped (S10)', async () => {
    await server.asSuperuser('grant create on schema public to app_readonly')
    const grant = await given(ada)
    const { body } = await credentials(ada, grant.id)
    const client = await server.signIn(body.user, body.password)
    await client.query(`create function back_door() returns int language sql security definer as 'select 1'`)
    await revoke(grant.id)
    await isGone(grant.id)
    await server.asSuperuser('revoke create on schema public from app_readonly')
    const events = await eventsOf(grant.id, 'grant.objects_left')
    const objects = [{ kind: 'function', name: 'public.back_door()' }]
    assert.deepEqual(
      events.map(({ data }) => [data.total, data.objects]),
      [[1, objects]],
    )
    const state = `select prosecdef, proowner::regrole::text as who from pg_proc where proname = 'back_door'`
    assert.deepEqual(await server.asSuperuser(state), [{ prosecdef: false, who: `left_by_${body.user}` }])
    assert.deepEqual(await server.asSuperuser('select 1 from pg_roles where rolname = $1', [body.user]), [])
  })

  test('an extension keeps the login, its password and its connections', async () => {
    const grant = await given(ada)
    const { body } = await credentials(ada, grant.id)
    const client = await server.signIn(body.user, body.password)
    await ageGrants(sallyport.asSuperuser, 'id', grant.id, 40)
    const asked = await ada.call<{ id: string }>('POST', `/v1/grants/${grant.id}/extend`, {
      duration_seconds: 3_600,
      reason: 'more to read',
    })
    assert.equal(asked.status, 201, JSON.stringify(asked.body))
    await approver.call('POST', `/v1/requests/${asked.body.id}/approve`, {})
    const extension = await until('the extension is active', async () => {
      const { body: page } = await ada.call<Page<Grant>>('GET', `/v1/grants?request_id=${asked.body.id}`)
      return page.data[0]?.status === 'active' && page.data[0]
    })
    assert.equal(extension.connect?.postgresql.login, body.user)
    await ageGrants(sallyport.asSuperuser, 'id', grant.id, 30)
    await until('the first has ended', async () => (await find(grant.id)).status === 'expired')
    assert.deepEqual(await read(client), [{ number: 42 }])
    const again = await credentials(ada, extension.id)
    assert.deepEqual([again.status, again.body.user], [200, body.user])
    assert.deepEqual((await credentials(ada, grant.id)).body.code, 'grant_not_live')
    await revoke(extension.id)
    await isGone(extension.id)
    assert.deepEqual(await server.asSuperuser('select 1 from pg_roles where rolname = $1', [body.user]), [])
  })

  test('a made login that no grant wants, and whose mark proves nothing, is listed for a person', async () => {
    const grant = await given(ada)
    await server.asSuperuser(`set role sallyport; create role ada_stray login; comment on role ada_stray is
      '${markOf('ada_stray')}'; grant app_readonly to ada_stray; reset role`)
    await sallyport.asSuperuser('update sweep set next_look_at = clock_timestamp()')
    const [orphan] = await until('it is listed', async () => {
      const { body } = await owner<Page<{ target_key: string; origin: string }>>(
        'GET',
        `/v1/provisioners/${made.body.id}/orphans`,
      )
      return body.data.length > 0 && body.data
    })
    assert.equal(orphan?.origin, 'unproven')
    assert.match(orphan?.target_key ?? '', /ada_stray/)
    const stays = await server.asSuperuser(`select 1 from pg_roles where rolname = 'ada_stray'`)
    assert.equal(stays.length, 1)
    await server.asSuperuser('drop role ada_stray')
    assert.equal((await find(grant.id)).status, 'active')
    await revoke(grant.id)
    await isGone(grant.id)
  })

  test('two provisioners that name one server differently end nothing of each other', async () => {
    const elsewhere = database.replace(account, '222222222222')
    const again = await owner<{ id: string }>('POST', '/v1/provisioners', {
      name: 'orders by its other name',
      provisioner_type: 'postgresql',
      config: { ...config, host: 'localhost', resource_ids: [elsewhere] },
      serves: [{ resource_type: 'cloud_db_instance', account_ids: ['222222222222'] }],
    })
    assert.equal(again.status, 201, JSON.stringify(again.body))
    const grants = [await given(ada), await given(ada, 1, elsewhere)]
    const drifted = await eventsOf(made.body.id, 'provisioner.drifted')
    const [{ now } = { now: '' }] = await sallyport.asSuperuser<{ now: string }>(
      'update sweep set next_look_at = clock_timestamp() returning clock_timestamp()::text as now',
    )
    await until(
      'both were swept, and what was found was checked',
      async () => {
        const rows = await sallyport.asSuperuser(
          `select from sweep where swept_at < $1 or lease_until is not null union all
            select from entitlement where next_look_at < clock_timestamp() or act is not null`,
          [now],
        )
        return rows.length === 0
      },
      60_000,
    )
    const logins = grants.map(({ connect }) => connect?.postgresql.login)
    const kept = await server.asSuperuser('select 1 from pg_roles where rolname = any($1)', [logins])
    assert.equal(kept.length, 2)
    assert.deepEqual(await eventsOf(made.body.id, 'provisioner.drifted'), drifted)
    assert.deepEqual(await eventsOf(again.body.id, 'provisioner.drifted'), [])
    for (const { id } of grants) {
      await revoke(id)
      await isGone(id)
    }
  })

  test('whether logins are made cannot change while access exists', async () => {
    const grant = await given(ada)
    const changed = await owner<{ code: string }>('PATCH', `/v1/provisioners/${made.body.id}`, {
      config: { ...config, makes_logins: false },
    })
    assert.deepEqual([changed.status, changed.body.code], [409, 'provisioner_in_use'])
    await revoke(grant.id)
    await isGone(grant.id)
  })
})
