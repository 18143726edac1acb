import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTwoProcesses } from '../support/two-processes.ts'
import { until } from '../support/wait.ts'

/** The end of the rehearsal, in two processes that keep the rights of callers for seconds. */
const { owner, join } = await startTwoProcesses()

test('a tenant that goes live at one process needs a second factor of an admin there at once, and at the other within seconds', async () => {
  const admin = await join('Ann', ['admin'])
  const statusAt = async (process: 0 | 1) => (await admin.at[process]('GET', '/v1/users?limit=1')).status
  assert.deepEqual([await statusAt(0), await statusAt(1)], [200, 200], 'both keep the caller')
  const made = await owner[0]('POST', '/v1/provisioners', {
    name: 'Door system',
    provisioner_type: 'webhook',
    config: { url: 'https://receiver.example.com/' },
    serves: [{ resource_type: 'cloud_account' }],
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const refused = await admin.at[0]<{ code: string }>('GET', '/v1/users?limit=1')
  assert.deepEqual([refused.status, refused.body.code], [403, 'sign_in_again'])
  await until('the other refuses too', async () => (await statusAt(1)) === 403)
})
