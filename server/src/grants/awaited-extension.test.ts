import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extensionStage, hour } from '../../test/support/extension-stage.ts'
import { openHouse } from '../../test/support/house.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkersWith } from '../../test/support/workers.ts'

/** An extension that is approved right before the end, or whose target plans slowly: the access goes on, and its sessions with it. */
const house = await openHouse()

/** While it is set, planning waits for it. */
let gate: PromiseWithResolvers<void> | undefined
startWorkersWith(house, (sandbox) => ({
  async plan(tx, input, signal) {
    await gate?.promise
    return sandbox.plan(tx, input, signal)
  },
}))
const on = await extensionStage(house, 'awaited extensions')

/** How many revocations the target was asked for. */
async function revocations(): Promise<number> {
  const rows = await house.asSuperuser(`select from sandbox_operation where tenant_id = $1 and kind = 'delete'`, [
    on.tenant_id,
  ])
  return rows.length
}

/** Access that has just ended, whose extension is approved and being planned. */
async function endedMeanwhile(account: string) {
  const first = await on.given(account)
  gate = Promise.withResolvers()
  const reply = await on.extend(first.id, { duration_seconds: hour })
  assert.equal(reply.status, 201, reply.text)
  await house.asSuperuser(
    `with ending as (update access_grant set expires_at = clock_timestamp() where id = $1 returning entitlement_id)
      update entitlement e set next_look_at = clock_timestamp() from ending where e.id = ending.entitlement_id`,
    [first.id],
  )
  await on.grantsAre(first.request, 'expired', 'deprovisioning')
  return { first, extension: String(reply.body.id) }
}

test('access stays for an extension that is still being planned at the end', async () => {
  const account = '220000000091'
  const { first, extension } = await endedMeanwhile(account)
  const looks = () =>
    house.asSuperuser<{ generation: string }>(
      `select e.generation from entitlement e join access_grant g on g.tenant_id = e.tenant_id
        and g.entitlement_id = e.id where g.id = $1`,
      [first.id],
    )
  const [before] = await looks()
  await until('the access was looked at twice more', async () => {
    const [now] = await looks()
    return Number(now?.generation) > Number(before?.generation) + 1
  })
  assert.deepEqual([await on.heldAt(account), await revocations()], [1, 0])
  gate?.resolve()
  await on.grantsAre(extension, 'active', 'successful')
  await on.grantsAre(first.request, 'expired', 'deprovisioned')
  assert.deepEqual([await on.heldAt(account), await revocations()], [1, 0])
})

test('it does not stay for longer than a minute', async () => {
  const account = '220000000092'
  const { first, extension } = await endedMeanwhile(account)
  await house.asSuperuser(
    `set session_replication_role = replica;
    update access_grant set ended_at = clock_timestamp() - interval '61 seconds' where id = '${first.id}';
    set session_replication_role = origin`,
  )
  await on.grantsAre(first.request, 'expired', 'deprovisioned')
  assert.deepEqual([await on.heldAt(account), await revocations()], [0, 1])
  gate?.resolve()
  await on.grantsAre(extension, 'active', 'successful')
  assert.equal(await on.heldAt(account), 1)
})
