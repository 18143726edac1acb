import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openScimStage } from '../support/scim-stage.ts'

/** A person settles a conflict while the directory, or who deletes it, changes the same user: both wait, and neither fails for it. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner } = acme
const call = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })

const rounds = 10

/** A conflict about a user whom the directory has stopped: the call that settles it, and the user. */
async function stopped(round: string) {
  const directory = await makeDirectory()
  const address = `${round}@example.com`
  const { id } = await directory.user({ userName: address, externalId: `${round}-1` })
  const patch = (path: string, value: unknown) =>
    directory.call('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path, value }] })
  assert.equal((await patch('active', false)).status, 200)
  assert.equal((await directory.call('POST', '/Users', { userName: address, externalId: `${round}-2` })).status, 409)
  const url = `/v1/identity-providers/${directory.id}`
  const [conflict] = (await call('GET', `${url}/conflicts`)).body.data as { id: string }[]
  const settle = () => call('POST', `${url}/conflicts/${conflict?.id}/settle`, { user_id: id })
  return { url, patch, settle }
}

test('the directory sends the same change', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { patch, settle } = await stopped(`same${round}`)
    const [settled, pushed] = await Promise.all([settle(), patch('externalId', `same${round}-2`)])
    assert.ok([200, 404].includes(settled.status), settled.text)
    assert.equal(pushed.status, 200, pushed.text)
  }
})

test('the provider is deleted', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const { url, settle } = await stopped(`gone${round}`)
    const [settled, deleted] = await Promise.all([settle(), call('DELETE', url)])
    assert.ok([200, 404].includes(settled.status), settled.text)
    assert.equal(deleted.status, 204, deleted.text)
  }
})
