import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { openDatabase } from '../../src/db/transaction.ts'
import { aLockIsWaitedFor } from '../support/lock.ts'
import { type Directory, openScimStage, type ScimReply } from '../support/scim-stage.ts'

/** A change that waits while its key is revoked, or its provider is switched off, changes nothing. */
const { house, acme, makeDirectory } = await openScimStage()
const { tenant_id, owner } = acme
const asOwner = (method: string, url: string, body?: unknown) =>
  house.call({ method, url, api_key: owner.api_key, tenant_id, ...(body !== undefined && { body }) })

suite('a change by a directory that waits for a lock', () => {
  const endings: [string, (directory: Directory) => Promise<unknown>, number][] = [
    ['while its key is revoked', revokeKeys, 401],
    [
      'while its provider is switched off',
      ({ id }) => asOwner('PATCH', `/v1/identity-providers/${id}`, { enabled: false }),
      403,
    ],
  ]
  for (const [when, end, status] of endings) {
    test(`${when} changes nothing`, async () => {
      const directory = await makeDirectory()
      const { id } = await directory.user({ userName: `${status}@example.com` })
      const { id: group } = await directory.group('Waiting')
      const operations = { op: 'add', path: 'title', value: 'x' }
      const members = { op: 'add', path: 'members', value: [{ value: id }] }
      const beside = openDatabase(house.service, { writes: 1, long: 1 })
      const calls: Promise<ScimReply>[] = []
      await beside.tenant(tenant_id).interactive(async (inside) => {
        await inside.write([
          sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${id} for update`,
          sql`select from tenant_group where tenant_id = ${tenant_id} and id = ${group} for update`,
        ])
        calls.push(directory.call('PATCH', `/Users/${id}`, { Operations: [operations] }))
        await aLockIsWaitedFor(house, inside)
        calls.push(directory.call('PATCH', `/Groups/${group}`, { Operations: [members] }))
        await end(directory)
      })
      await beside.close()
      const [ofUser, ofGroup] = await Promise.all(calls)
      assert.deepEqual([ofUser?.status, ofGroup?.status], [status, status], `${ofUser?.text}${ofGroup?.text}`)
      const { body } = await asOwner('GET', `/v1/users/${id}`)
      assert.equal('title' in body, false)
      assert.equal((await asOwner('GET', `/v1/groups/${group}`)).body.member_count, 0)
    })
  }
})

async function revokeKeys({ id }: Directory): Promise<void> {
  const { body } = await asOwner('GET', `/v1/api-keys?identity_provider_id=${id}`)
  for (const key of body.data as { id: string }[]) await asOwner('DELETE', `/v1/api-keys/${key.id}`)
}
