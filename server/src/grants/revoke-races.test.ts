import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { aLockIsWaitedFor } from '../../test/support/lock.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { sql } from '../db/sql.ts'
import { type Statement, systemActor, type WorkCtx } from '../kernel/context.ts'
import { linkGrant } from './batched-entitlement-store.ts'
import { revokeGrantsOf, revokeLiveGrant } from './grant-store.ts'
import { linkGrants } from './link-store.ts'

/** Nothing extends the grants of this file. */
const nothing = sql`select`

/** No worker runs here: the test locks rows in the order in which workers do. */
const house = await openHouse()
const on = await requestStage(house, 'races for a grant')
await on.rule('@approval_mode("auto") permit (principal, action, resource);')
const { tenant_id } = on
const user_id = on.people.user.user_id
const tx = house.database.tenant(tenant_id)

const holdHolder = sql`select from tenant_user where tenant_id = ${tenant_id} and id = ${user_id} for share`
const holdEntitlement = (id: string) =>
  sql`select from entitlement where tenant_id = ${tenant_id} and id = ${id} for no key update`
const change = (grant_id: string, set: Statement) =>
  sql`update access_grant set ${set} where tenant_id = ${tenant_id} and id = ${grant_id}`
// A slow machine must not end a wait: only the deadlock detection of the database may.
const patiently = sql`select set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`

const ways: Record<string, (ctx: WorkCtx, id: string) => Promise<unknown>> = {
  'revoked alone': (ctx, id) => revokeLiveGrant(ctx, id, 'enough', nothing),
  'revoked with all grants of its holder': async (ctx) => {
    await ctx.tx.write([
      sql`update tenant_user set updated_at = clock_timestamp() where tenant_id = ${tenant_id} and id = ${user_id}`,
    ])
    await revokeGrantsOf(ctx, user_id, 'gone')
  },
}

let account = 500_000_000_000

/** A grant that is not linked yet, and an entitlement with the same id. */
async function stage(): Promise<string> {
  account += 1
  const [grant] = await on.grantsOf(await on.ask(on.account(String(account))))
  assert.ok(grant)
  await house.asSuperuser(
    `insert into entitlement (tenant_id, id, provisioner, target_key, target, held_before, observed)
      values ($1, $2, 'sandbox', $3, '{}', false, 'absent')`,
    [tenant_id, grant.id, grant.id],
  )
  return grant.id
}

for (const [way, end] of Object.entries(ways)) {
  test(`a grant is ${way} while it is linked to an entitlement that a worker holds, without a deadlock`, async () => {
    const id = await stage()
    const { ending } = await tx.interactive(async (worker) => {
      await worker.read(patiently)
      await worker.read(holdEntitlement(id))
      const { ending } = await tx.interactive(async (planner) => {
        await planner.write([holdHolder, change(id, sql`entitlement_id = ${id}`)])
        const ending = tx.interactive(async (by) => {
          await by.read(patiently)
          await end({ tx: by, actor: systemActor, request_id: 'test' }, id)
        })
        await aLockIsWaitedFor(house, planner)
        return { ending }
      })
      await aLockIsWaitedFor(house, worker)
      await worker.write([change(id, sql`updated_at = clock_timestamp()`)])
      return { ending }
    })
    await ending
    const [kept] = await house.asSuperuser(
      `select g.status, e.gives, e.next_look_at > g.ended_at as looked_at from access_grant g
        join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id where g.id = $1`,
      [id],
    )
    assert.deepEqual(kept, { status: 'revoked', gives: false, looked_at: true })
  })
}

test('linking a grant locks its holder, so that a revoke waits for the link', async () => {
  const id = await stage()
  const item = { tenant_id, id, generation: '0' }
  const ref = { provisioner: 'sandbox', provisioner_id: null, provisioner_version: null } as const
  const plan = { key: id, target: {}, held: false, session_seconds: 0, connect: null }
  await tx.interactive(async (planner) => {
    assert.equal(await linkGrant(planner, { item, ref, plan }), 'linked')
    const rows = await house.asSuperuser('select from tenant_user where id = $1 for no key update skip locked', [
      user_id,
    ])
    assert.deepEqual(rows, [])
  })
})

test('grants are linked in the order of their ids, whatever the order of the batch', async () => {
  const ids = [await stage(), await stage()].sort()
  const [first = '', second = ''] = ids
  const links = [second, first].map((id) => ({
    item: { tenant_id, id, generation: '0' },
    ref: { provisioner: 'sandbox' as const, provisioner_id: null, provisioner_version: null },
    plan: { key: `place of ${id}`, target: {}, held: false, session_seconds: 0, connect: null },
  }))
  const { linking } = await tx.interactive(async (inside) => {
    const lock = (id: string) =>
      inside.read(sql`select from access_grant where tenant_id = ${tenant_id} and id = ${id} for update`)
    await lock(first)
    const linking = linkGrants(tx, links)
    await aLockIsWaitedFor(house, inside)
    // If it held the second already, this would be a deadlock.
    await lock(second)
    return { linking }
  })
  assert.deepEqual(await linking, ['linked', 'linked'])
})
