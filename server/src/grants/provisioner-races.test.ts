import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sql } from '../db/sql.ts'
import type { WorkItem } from '../jobs/claim.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { linkGrant } from './batched-entitlement-store.ts'
import { linkGrants } from './link-store.ts'
import { sweepEnabled } from './sweep-store.ts'

/** A grant is linked to an entitlement while its provisioner is being deleted or changed. No worker runs here. */
const house = await openHouse()
const on = await requestStage(house, 'races for a provisioner')
await on.rule('@approval_mode("auto") permit (principal, action, resource);')
const tx = house.database.tenant(on.tenant_id)

let account = 500_000_000_000

/** A provisioner, and a grant that it is to give, planned and not yet linked. */
async function stage() {
  const provisioner = await on.created(on.owner, '/v1/provisioners', { name: 'p', provisioner_type: 'sandbox' })
  account += 1
  const request = await on.ask(on.account(String(account)))
  const [grant] = await on.grantsOf(request)
  assert.ok(grant)
  const id = String(provisioner.id)
  const item: WorkItem = { tenant_id: on.tenant_id, id: grant.id, generation: '0' }
  const link = (by: Tx, version = 1) => {
    const ref = { provisioner: 'sandbox', provisioner_id: id, provisioner_version: version } as const
    const plan = { key: grant.id, target: {}, held: false, session_seconds: 0, connect: null }
    return linkGrant(by, { item, ref, plan })
  }
  const change = (method: 'PATCH' | 'DELETE', body?: unknown) =>
    on.call(on.owner, method, `/v1/provisioners/${id}`, body)
  const state = async () => {
    const [row] = await house.asSuperuser<{ linked: boolean; wanted_by: string | null }>(
      `select g.entitlement_id is not null as linked, (select e.provisioner_id from entitlement e
          where e.tenant_id = g.tenant_id and e.id = g.entitlement_id) as wanted_by
        from access_grant g where g.id = $1`,
      [grant.id],
    )
    return row
  }
  return { id, key: grant.id, link, change, state }
}

/** Records that the same entitlement was given through the provisioner before, and is gone. */
const givenBefore = ({ id, key }: { id: string; key: string }) =>
  house.asSuperuser(
    `insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed)
      values ($1, $2, 'sandbox', $3, $4, '{}', false, 'absent')`,
    [on.tenant_id, newId(), id, key],
  )

for (const before of ['never', 'before'] as const) {
  suite(`a grant of an entitlement that its provisioner ${before === 'never' ? 'never gave' : 'gave before'}`, () => {
    const staged = async () => {
      const staging = await stage()
      if (before === 'before') await givenBefore(staging)
      return staging
    }

    test('a grant linked first keeps its provisioner from being deleted', async () => {
      const { id, link, change, state } = await staged()
      const { deleting } = await tx.interactive(async (inside) => {
        assert.equal(await link(inside), 'linked')
        const deleting = change('DELETE')
        await aLockIsWaitedFor(house, inside)
        return { deleting }
      })
      const reply = await deleting
      assert.deepEqual([reply.status, reply.body.code], [409, 'provisioner_in_use'])
      assert.deepEqual(await state(), { linked: true, wanted_by: id })
    })

    test('a grant is not linked to a provisioner that is being deleted', async () => {
      const { id, link, state } = await staged()
      const { linking } = await tx.interactive(async (inside) => {
        await inside.read(sql`select from provisioner where tenant_id = ${on.tenant_id} and id = ${id} for update`)
        const linking = link(tx)
        await aLockIsWaitedFor(house, inside)
        await inside.write([sql`delete from provisioner where tenant_id = ${on.tenant_id} and id = ${id}`])
        return { linking }
      })
      assert.equal(await linking, 'provisioner_changed')
      assert.deepEqual(await state(), { linked: false, wanted_by: null })
    })

    test('a grant is linked by a plan from after a change of its provisioner, not from before', async () => {
      const { id, link, state } = await staged()
      const { linking } = await tx.interactive(async (inside) => {
        await inside.read(sql`select from provisioner where tenant_id = ${on.tenant_id} and id = ${id} for update`)
        const linking = link(tx)
        await aLockIsWaitedFor(house, inside)
        await inside.write([sql`update provisioner set version = 2 where tenant_id = ${on.tenant_id} and id = ${id}`])
        return { linking }
      })
      assert.equal(await linking, 'provisioner_changed')
      assert.deepEqual(await state(), { linked: false, wanted_by: null })
      assert.equal(await link(tx, 2), 'linked')
      assert.deepEqual(await state(), { linked: true, wanted_by: id })
    })
  })
}

test('grants planned for two versions of a provisioner: one is linked and its target swept, the other is planned again', async () => {
  const [current, former] = [await stage(), await stage()]
  const linkOf = ({ key }: { key: string }, version: number) => ({
    item: { tenant_id: on.tenant_id, id: key, generation: '0' },
    ref: { provisioner: 'sandbox', provisioner_id: current.id, provisioner_version: version } as const,
    plan: { key, target: {}, held: false, session_seconds: 0, connect: null },
  })
  assert.deepEqual(await linkGrants(tx, [linkOf(current, 1), linkOf(former, 0)]), ['linked', 'provisioner_changed'])
  const swept = await house.asSuperuser('select from sweep where provisioner_id = $1', [current.id])
  assert.equal(swept.length, 1)
})

test('a provisioner is disabled at once while a grant is being linked to it', async () => {
  const { link, change } = await stage()
  await tx.interactive(async (inside) => {
    assert.equal(await link(inside), 'linked')
    const reply = await change('PATCH', { enabled: false })
    assert.deepEqual([reply.status, reply.body.enabled], [200, false])
  })
})

test('after a restore, a target whose provisioner is enabled only then is compared soon', async () => {
  const [webhook, sandbox] = [newId(), newId()]
  for (const [id, type] of [
    [webhook, 'webhook'],
    [sandbox, 'sandbox'],
  ]) {
    await house.asSuperuser(
      `insert into provisioner (tenant_id, id, name, provisioner_type, created_at)
        values ($1, $2, $3, $3, clock_timestamp() - interval '1 hour')`,
      [on.tenant_id, id, type],
    )
  }
  const dueAfter = async (epoch: string) => {
    await house.asSuperuser(`update installation set epoch = extract(epoch from ${epoch})::bigint`)
    await tx.write([sweepEnabled(tx, webhook), sweepEnabled(tx, sandbox)])
    return house.asSuperuser(
      'select provisioner, next_look_at <= clock_timestamp() as is_due from sweep where provisioner_id = any($1)',
      [[webhook, sandbox]],
    )
  }
  assert.deepEqual(await dueAfter(`clock_timestamp() - interval '2 hours'`), [], 'it was made since')
  assert.deepEqual(await dueAfter('clock_timestamp()'), [{ provisioner: 'webhook', is_due: true }])
  await house.asSuperuser(`update sweep set next_look_at = clock_timestamp() + interval '1 hour'`)
  assert.deepEqual(await dueAfter('clock_timestamp()'), [{ provisioner: 'webhook', is_due: true }], 'sooner')
})
