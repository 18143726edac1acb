import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import type { House } from './house.ts'
import { requestStage } from './request-stage.ts'
import { until } from './wait.ts'

type EntitlementKept = {
  observed: string
  act: string | null
  suspected: boolean
  drift: string | null
  failures: number
  looks_again: boolean
}

/**
 * A tenant on the sandbox whose requests are all approved. Its own provisioner if `corrects_drift` (whether changes by hand
 * are undone) is given, else the default of a tenant without a provisioner.
 */
export async function driftStage(house: House, name: string, corrects_drift?: boolean) {
  const on = await requestStage(house, name)
  const { tenant_id, people } = on
  await on.rule('@approval_mode("auto") permit (principal, action, resource);')
  const provisioner_id = newId()
  if (corrects_drift !== undefined) {
    await house.asSuperuser(
      `insert into provisioner (tenant_id, id, name, provisioner_type, corrects_drift)
        values ($1, $2, 'rehearsal', 'sandbox', $3)`,
      [tenant_id, provisioner_id, corrects_drift],
    )
    await house.asSuperuser(
      `insert into served_resource (tenant_id, resource_type, provisioner_id) values ($1, 'cloud_account', $2)`,
      [tenant_id, provisioner_id],
    )
  }

  /** Requests access and waits until it is active and its job has released the lease; returns its request and its grant. */
  async function held(account: string, more: object = {}): Promise<{ request: string; grant: string }> {
    const request = await on.ask(on.account(account, more))
    const [grant] = await on.grantsAre(request, 'active', 'successful')
    assert.ok(grant)
    await until('the job has released its lease', async () => {
      const leased = await house.asSuperuser(
        `select from access_grant g join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
          where g.tenant_id = $1 and g.id = $2 and e.lease_until is not null`,
        [tenant_id, grant.id],
      )
      return leased.length === 0
    })
    return { request, grant: grant.id }
  }
  async function revoke({ grant }: { grant: string }): Promise<void> {
    const reply = await on.call(people.user, 'POST', `/v1/grants/${grant}/revoke`)
    assert.equal(reply.status, 200, reply.text)
  }
  async function view({ grant }: { grant: string }) {
    const reply = await on.call(people.user, 'GET', `/v1/grants/${grant}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body as { provisioning: Record<string, unknown> } & Record<string, unknown>
  }
  const entitlement = async (account: string) => {
    const [row] = await house.asSuperuser<EntitlementKept>(
      `select observed, act, suspected, drift, failures, next_look_at is not null as looks_again from entitlement
        where tenant_id = $1 and target_key like $2`,
      [tenant_id, `%${account}%`],
    )
    return row
  }
  return {
    ...on,
    ...sweeping(house, tenant_id),
    ...byHandOn(house, tenant_id),
    provisioner_id,
    held,
    revoke,
    view,
    entitlement,
  }
}

/** Sweeps of a tenant's provisioners. */
function sweeping(house: House, tenant_id: string) {
  /** As if nothing had changed for a while. */
  const age = () =>
    house.asSuperuser(`update entitlement set updated_at = updated_at - interval '2 minutes' where tenant_id = $1`, [
      tenant_id,
    ])
  /** Begins a sweep; returns a function that waits for its end. */
  async function beginSweep(): Promise<() => Promise<unknown>> {
    const [now] = await house.asSuperuser<{ at: string }>(
      `update sweep set next_look_at = clock_timestamp() where tenant_id = $1 returning next_look_at::text as at`,
      [tenant_id],
    )
    assert.ok(now, 'there is something to sweep')
    return () =>
      until('the sweep has ended', async () => {
        const swept = await house.asSuperuser(
          'select from sweep where tenant_id = $1 and swept_at >= $2 and lease_until is null',
          [tenant_id, now.at],
        )
        return swept.length > 0
      })
  }
  /** Sweeps what has not changed for a while; afterwards everything suspect has been checked. */
  async function sweep(): Promise<void> {
    // A worker that is about to end its work writes once more, and what it wrote just now is not compared.
    await until('no worker is at work', () => hasNone('lease_until is not null'))
    await age()
    await (await beginSweep())()
    await until('everything suspect was checked', () =>
      hasNone('(suspected or act is not null or lease_until is not null)'),
    )
  }
  const hasNone = async (condition: string) => {
    const found = await house.asSuperuser(`select from entitlement where tenant_id = $1 and ${condition}`, [tenant_id])
    return found.length === 0
  }
  return { age, beginSweep, sweep }
}

/** Changes made at the target without Sallyport, and the events about them. */
function byHandOn(house: House, tenant_id: string) {
  const byHand = {
    remove: (account: string) =>
      house.asSuperuser('delete from sandbox_assignment where tenant_id = $1 and key like $2', [
        tenant_id,
        `%${account}%`,
      ]),
    /** Adds an assignment again that the ledger knows. */
    add: (account: string) =>
      house.asSuperuser(
        `insert into sandbox_assignment (tenant_id, key) select tenant_id, target_key from entitlement
          where tenant_id = $1 and target_key like $2`,
        [tenant_id, `%${account}%`],
      ),
    /** Adds an assignment that the ledger does not know. */
    addAnother: (key: string, marked: boolean) =>
      house.asSuperuser('insert into sandbox_assignment (tenant_id, key, marked) values ($1, $2, $3)', [
        tenant_id,
        key,
        marked,
      ]),
  }
  /** The events about drift, in order. */
  const driftEvents = async () => {
    const rows = await house.asSuperuser<{ type: string; subject_id: string; data: Record<string, unknown> }>(
      `select type, subject_id, data from event where tenant_id = $1 and type like '%.drifted' order by seq`,
      [tenant_id],
    )
    return rows.map(({ type, subject_id, data }) => ({ type, subject_id, drift: data.drift }))
  }
  return { byHand, driftEvents }
}
