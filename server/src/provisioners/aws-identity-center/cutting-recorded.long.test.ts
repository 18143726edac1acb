import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAwsTarget, quick } from '../../../test/support/aws-stage.ts'
import { policyOf } from '../../../test/support/cut-stage.ts'
import { openHouse } from '../../../test/support/house.ts'
import { requestStage } from '../../../test/support/request-stage.ts'
import { startWorkers } from '../../../test/support/workers.ts'
import { convergeEntitlement } from '../../grants/converge-entitlement.job.ts'
import { planGrant } from '../../grants/plan-grant.job.ts'
import { reauthorize } from '../../requests/reauthorize-request.flow.ts'
import type { Drivers } from '../drivers.ts'

/** What a grant says about its sessions when they were cut at its end, and when they could not be. */
const house = await openHouse()
const on = await requestStage(house, 'cut sessions')
await on.rule('permit (principal, action, resource);')
const { aws, sets, accounts, opening } = await openAwsTarget({}, { cut_sessions: true })
const driver = quick.open({ ...opening, tenant_id: on.tenant_id })
const drivers: Drivers = { of: async () => driver, beat: async () => true, close: driver.close }
const workers = startWorkers(house, [planGrant(drivers), ...convergeEntitlement(drivers, reauthorize)])
house.atEnd(driver.close)
const user = aws.addUser('user@example.com')
const [account] = accounts
aws.assignByHand(account, sets.ReadOnly, aws.addUser('bystander@example.com'))

type Shown = { sessions_may_live_until?: string; sessions_note?: string; provisioning: { step: string; since: string } }

/** A grant from its request to its end; returns what it shows then, and a session of it. */
async function live() {
  const request = await on.ask(on.account(account)).then(on.approve)
  const [grant] = await on.grantsAre(request, 'active', 'successful')
  const session = aws.signIn(account, sets.ReadOnly, user)
  assert.ok(aws.accepts(session))
  const read = async () => (await on.call(on.people.user, 'GET', `/v1/grants/${grant?.id}`)).body as unknown as Shown
  assert.equal((await read()).sessions_may_live_until, undefined)
  await on.call(on.people.user, 'POST', `/v1/grants/${grant?.id}/revoke`, {})
  await on.grantsAre(request, 'revoked', 'deprovisioned')
  return { session, shown: await read() }
}

test('a grant says that no session lives on, or until when and why', async () => {
  aws.setPolicyByHand(sets.ReadOnly, policyOf({ Effect: 'Allow', Action: 's3:*', Resource: '*' }))
  const cut = await live()
  assert.ok(!aws.accepts(cut.session))
  assert.equal(cut.shown.provisioning.step, 'gone')
  assert.equal(cut.shown.sessions_may_live_until, undefined)
  assert.equal(cut.shown.sessions_note, undefined)

  aws.setPolicyByHand(sets.ReadOnly, policyOf({ Effect: 'Allow', Action: `s3:${'*'.repeat(10_100)}`, Resource: '*' }))
  const uncut = await live()
  assert.ok(aws.accepts(uncut.session))
  const { since } = uncut.shown.provisioning
  assert.equal(Date.parse(`${uncut.shown.sessions_may_live_until}`) - Date.parse(since), 3_600_000)
  assert.match(`${uncut.shown.sessions_note}`, /^sessions were not cut: .* has no room/)

  aws.setPolicyByHand(sets.ReadOnly, policyOf({ Effect: 'Allow', Action: 's3:*', Resource: '*' }))
  const again = await live()
  assert.equal(again.shown.sessions_note, undefined, 'a later grant begins without the note')
  await workers.stop()
})
