import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTwoProcesses } from '../support/two-processes.ts'
import { until } from '../support/wait.ts'

/** The end of a rehearsal's token, in two processes that keep the rights of callers for seconds. */
const { asSuperuser, tenant_id, owner, join, at } = await startTwoProcesses()

test('a token of the rehearsal works at both processes; once the tenant is live at neither, within seconds', async () => {
  const made = await owner[0]<{ people: { id: string }[] }>('POST', '/v1/rehearsal', {})
  assert.equal(made.status, 200, JSON.stringify(made.body))
  const olga = await join('Olga', ['admin'])
  await asSuperuser('update tenant_user set is_owner = true where tenant_id = $1 and id = $2', [tenant_id, olga.id])
  const [tenant] = await asSuperuser<{ name: string }>('select name from tenant where id = $1', [tenant_id])
  const given = await olga.at[1]<{ token: string }>('POST', '/v1/rehearsal/token', {
    user_id: made.body.people[0]?.id,
  })
  assert.equal(given.status, 201, JSON.stringify(given.body))
  const ada = at({ token: given.body.token })
  const statusAt = async (process: 0 | 1) => (await ada[process]('GET', '/v1/users/me')).status
  assert.deepEqual([await statusAt(0), await statusAt(1)], [200, 200], 'both keep the caller')
  const live = await olga.at[0]('POST', '/v1/tenant/go-live', { confirm: tenant?.name })
  assert.equal(live.status, 200, JSON.stringify(live.body))
  assert.equal(await statusAt(0), 401)
  await until('the other refuses too', async () => (await statusAt(1)) === 401)
})
