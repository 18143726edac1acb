import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openClaimsStage } from '../support/claims-stage.ts'
import { possibleDeciders } from '../support/possible-deciders.ts'

/** Who decides a request by a group of a claim: the mapping is the gift, whenever its receiver signs in (P8, P31). */
const { house, tenant, asOwner, must, by, open, makeGroup, map, enter, someone, changes } = await openClaimsStage()

/** An approver by a mapping that somebody makes, and a requester who may make mappings. */
async function prepare() {
  const provider = await open()
  const { group_id } = await makeGroup(provider, ['requests:approve'])
  return { group_id, ...(await prepareRules()) }
}

async function prepareRules() {
  const policy = String((await must(asOwner('POST', '/v1/policies', { name: 'all may ask' }))).body.id)
  await must(asOwner('POST', `/v1/policies/${policy}/rules`, { effect: 'permit' }))
  return { requester: tenant().people.admin }
}

const saveAs = async (token: string, change: object) => {
  const { issuer, client_id, redirect_uris, subject_claim, email_trust } = (
    await asOwner('GET', '/v1/settings/sign-in')
  ).body
  const same = { issuer, client_id, redirect_uris, subject_claim, email_trust }
  await must(by(token, 'PUT', '/v1/settings/sign-in', { ...same, ...change }))
}
const mapsAs = (token: string, group_mappings: object[]) => saveAs(token, { group_mappings })
const ask = async (token: string) => {
  const body = { resource: { type: 'cloud_account', id: '123456789012' }, action: 'Any' }
  return String((await must(by(token, 'POST', '/v1/requests', body))).body.id)
}

/** The status of an approval, and whether the approver was to be notified of the request. */
async function approve(request: string, approver: { id: string; token: string }) {
  const notified = await possibleDeciders(house.database.tenant(tenant().tenant_id), request)
  const reply = await by(approver.token, 'POST', `/v1/requests/${request}/approve`, {})
  return [reply.status, notified.includes(approver.id)]
}

suite('an approver by a claim', () => {
  test('counts where another made the mapping, even after the request', async () => {
    const { group_id, requester } = await prepare()
    const request = await ask(requester.token)
    await map([{ value: 'eng', group_id }])
    assert.deepEqual(await approve(request, await enter('anna', { groups: ['eng'] })), [200, true])
  })

  test('does not count where the requester made the mapping after the request (P31)', async () => {
    const { group_id, requester } = await prepare()
    const request = await ask(requester.token)
    await mapsAs(requester.token, [{ value: 'eng', group_id }])
    const anna = await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await approve(request, anna), [403, false])
    assert.deepEqual(await approve(await ask(requester.token), anna), [200, true], 'a later request')
  })

  test('counts where the requester made the mapping before, though the approver signs in afterwards', async () => {
    const { group_id, requester } = await prepare()
    await mapsAs(requester.token, [{ value: 'eng', group_id }])
    const request = await ask(requester.token)
    const anna = await enter('anna', { groups: ['eng'] })
    assert.deepEqual(await approve(request, anna), [200, true])
  })

  test('does not count where the requester removed the mapping, and made it again', async () => {
    const { group_id, requester } = await prepare()
    await map([{ value: 'eng', group_id }])
    const request = await ask(requester.token)
    await mapsAs(requester.token, [])
    await mapsAs(requester.token, [{ value: 'eng', group_id }])
    assert.deepEqual(await approve(request, await enter('anna', { groups: ['eng'] })), [403, false])
  })

  test('counts by the oldest mapping of several', async () => {
    const { group_id, requester } = await prepare()
    await map([{ value: 'old', group_id }])
    const request = await ask(requester.token)
    await mapsAs(requester.token, [
      { value: 'new', group_id },
      { value: 'old', group_id },
    ])
    const anna = await enter('anna', { groups: ['new'] })
    assert.deepEqual(await approve(request, anna), [403, false])
    await enter('anna', { groups: ['new', 'old'] })
    assert.deepEqual(await approve(request, anna), [200, true])
    assert.deepEqual((await changes(anna.id)).length, 1, 'the membership went on')
  })

  test('does not count where the requester saves a mapping of another that was out of effect (P8)', async () => {
    const { group_id, role } = await makeGroup(await open(), [])
    const { requester } = await prepareRules()
    await map([{ value: 'eng', group_id }])
    const widener = await someone(['roles:write', 'requests:approve'])
    await must(by(widener.token, 'PATCH', `/v1/roles/${role}`, { scopes: ['requests:approve'] }))
    const request = await ask(requester.token)
    await mapsAs(requester.token, [{ value: 'eng', group_id }])
    assert.deepEqual(await approve(request, await enter('anna', { groups: ['eng'] })), [403, false])
  })

  test('does not count where the requester has the mappings read another claim (P8)', async () => {
    const { group_id, requester } = await prepare()
    await map([{ value: 'eng', group_id }])
    const request = await ask(requester.token)
    await saveAs(requester.token, { groups_claim: 'teams' })
    assert.deepEqual(await approve(request, await enter('anna', { groups: ['staff'], teams: ['eng'] })), [403, false])
  })

  test('who received a right by the requester’s mapping makes no approvers, also once another mapping gives it (P8)', async () => {
    const provider = await open()
    const { requester } = await prepare()
    const { group_id } = await makeGroup(provider, ['users:write', 'requests:approve'])
    const request = await ask(requester.token)
    await mapsAs(requester.token, [{ value: 'new', group_id }])
    const between = await enter('anna', { groups: ['new'] })
    const helper = await enter('ben', {})
    await map([
      { value: 'new', group_id },
      { value: 'later', group_id },
    ])
    const deciding = String(
      (await must(asOwner('POST', '/v1/roles', { name: 'deciding', scopes: ['requests:approve'] }))).body.id,
    )
    await must(by(between.token, 'PUT', `/v1/users/${helper.id}/roles`, { roles: ['user', deciding] }))
    assert.deepEqual(await approve(request, helper), [403, false])
    await enter('anna', { groups: ['later'] })
    assert.deepEqual(await approve(request, helper), [403, false])
    const [kept] = await house.asSuperuser<{ given_by: string; spans: boolean }>(
      'select given_by, since is not null and since > given_at and ended_at > since as spans from past_gift where user_id = $1',
      [between.id],
    )
    assert.deepEqual(kept, { given_by: requester.user_id, spans: true })
  })
})
