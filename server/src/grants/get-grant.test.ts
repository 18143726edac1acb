import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftStage } from '../../test/support/drift-stage.ts'
import { openHouse, type Person } from '../../test/support/house.ts'
import { startWorkers } from '../../test/support/workers.ts'
import { newId } from '../kernel/id.ts'

/** What a grant shows about its progress at the target, and to whom. */
const house = await openHouse()
startWorkers(house)
const on = await driftStage(house, 'reading grants', false)
const { people } = on
const account = '640000000001'
const access = await on.held(account)

const read = (person: Person, id: string) => on.call(person, 'GET', `/v1/grants/${id}`)

test('a grant shows its provisioner, step and target request, the same on every endpoint', async () => {
  const { body } = await read(people.user, access.grant)
  const { since, target_request_id, ...provisioning } = body.provisioning as Record<string, unknown>
  assert.deepEqual(provisioning, {
    provisioner: { id: on.provisioner_id, type: 'sandbox', name: 'rehearsal' },
    ...{ step: 'held', failures: 0, last_error: null, drift: null },
  })
  const [created] = await house.asSuperuser<{ id: string }>('select id from sandbox_operation where tenant_id = $1', [
    on.tenant_id,
  ])
  assert.equal(target_request_id, created?.id)
  assert.ok(Math.abs(Date.parse(String(since)) - Date.parse(String(body.activated_at))) < 1_000)
  assert.equal('sessions_may_live_until' in body, false, 'no sandbox session outlives its grant')
  const listed = await on.call(people.user, 'GET', `/v1/grants?request_id=${access.request}`)
  const { extended_by: _, extendable: __, ...named } = body
  assert.deepEqual((listed.body.data as unknown[])[0], named)
  const status = await on.call(people.user, 'GET', `/v1/access/requests/${access.request}`)
  const [grant] = status.body.grants as { provisioning: unknown }[]
  assert.deepEqual(grant?.provisioning, body.provisioning)
})

test('a grant is readable by its holder and by readers of all grants; for others it does not exist', async () => {
  assert.equal((await read(people.admin, access.grant)).status, 200)
  const refused = await read(people.user, newId())
  assert.equal(refused.status, 404)
  const other = await on.ask(on.account('640000000002'), people.approver)
  const [others] = await on.grantsAre(other, 'active', 'successful')
  const hidden = await read(people.user, others?.id ?? '')
  assert.equal(hidden.status, 404)
  const { request_id: _, ...unknown } = refused.body
  const { request_id: __, ...foreign } = hidden.body
  assert.deepEqual(foreign, unknown)
})

test('a grant shows how long its sessions can live on at a target that cannot cut them', async () => {
  const lasts = (seconds: number | null) =>
    house.asSuperuser('update entitlement set session_seconds = $2 where tenant_id = $1', [on.tenant_id, seconds])
  await lasts(3_600)
  const live = await on.view(access)
  assert.equal(Date.parse(String(live.sessions_may_live_until)) - Date.parse(String(live.expires_at)), 3_600_000)
  await on.revoke(access)
  await on.grantsAre(access.request, 'revoked', 'deprovisioned')
  const gone = await on.view(access)
  assert.equal(
    Date.parse(String(gone.sessions_may_live_until)),
    Date.parse(String(gone.provisioning.since)) + 3_600_000,
  )
  assert.equal(gone.provisioning.step, 'gone')
  await lasts(null)
  assert.equal((await on.view(access)).sessions_may_live_until, null)
})

test('a grant with audited sessions shows where and for which period they are recorded', async () => {
  const audited = await on.held('640000000003')
  const record = async () => (await on.view(audited)).session_record
  assert.equal(await record(), undefined)
  await house.asSuperuser('update access_request set audit_session = true where id = $1', [audited.request])
  await house.asSuperuser(
    `update entitlement set session_seconds = 3600, recorded_as = 'role_*'
      where id = (select entitlement_id from access_grant where id = $1)`,
    [audited.grant],
  )
  const { activated_at, expires_at } = await on.view(audited)
  const until = new Date(Date.parse(String(expires_at)) + 3_600_000).toISOString()
  assert.deepEqual(await record(), { recorded_as: 'role_*', from: activated_at, until })
})
