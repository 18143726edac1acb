import { setTimeout as pause } from 'node:timers/promises'
import { driverTypes } from '../../src/app.ts'
import { sql } from '../../src/db/sql.ts'
import type { Tx } from '../../src/kernel/context.ts'
import { type Driver, type Progress, TargetError } from '../../src/provisioners/driver.ts'
import type { DriverTypes } from '../../src/provisioners/drivers.ts'

/** The service's own driver types, with a sandbox that meets injected faults. */
export const faultyDriverTypes: DriverTypes = {
  ...driverTypes,
  sandbox: { ...driverTypes.sandbox, open: (opening) => withFaults(driverTypes.sandbox.open(opening)) },
}

const unanswered: Readonly<Record<string, string>> = {
  forgotten: 'the sandbox did not answer in time',
  throttled: 'the sandbox is throttling; rate exceeded',
  conflicting: 'the sandbox has another operation on this under way',
}

/** The rest of an act's fault is encoded in its reference, so that every process knows it. */
const failing = 'about to fail'
const underWay = /^(\d+) polls before (.+)$/

function withFaults(driver: Driver): Driver {
  const act = async (tx: Tx, signal: AbortSignal, begin: () => Promise<Progress>): Promise<Progress> => {
    const { fault, polls, delay_ms } = await takeFault(tx)
    const begun = fault === 'none' || fault === 'forgotten' ? await begin() : pending(failing, 0)
    if (delay_ms > 0) await pause(delay_ms, undefined, { signal })
    const message = unanswered[fault]
    if (message !== undefined) throw new TargetError('transient', message)
    return begun.done || fault === 'failed' ? begun : pending(begun.reference, polls - 1)
  }
  return {
    ...driver,
    grant: (tx, target, until, signal) => act(tx, signal, () => driver.grant(tx, target, until, signal)),
    revoke: (tx, target, signal) => act(tx, signal, () => driver.revoke(tx, target, signal)),
    async poll(tx, target, reference, signal) {
      if (reference === failing) throw new TargetError('permanent', 'the sandbox answered FAILED')
      const [, polls = 0, begun = reference] = underWay.exec(reference) ?? []
      if (Number(polls) > 0 && (await isSlow(tx))) return pending(begun, Number(polls) - 1)
      return driver.poll(tx, target, begun, signal)
    },
    pollAfterMs: (polls) => Math.min(driver.pollAfterMs(polls) * 2 ** polls, 5_000),
  }
}

function pending(reference: string, polls: number): Progress {
  return { done: false, reference: polls > 0 ? `${polls} polls before ${reference}` : reference }
}

type Met = { fault: string; polls: number; delay_ms: number }

/** Takes the fault of the tenant's next act; no other act takes the same one. */
async function takeFault(tx: Tx): Promise<Met> {
  const [[met]] = await tx.write([
    sql<Met>`with next as (
        select *, case when forgotten > 0 then 'forgotten' when throttled > 0 then 'throttled'
            when conflicting > 0 then 'conflicting' else 'failed' end as fault
          from fault_injection.sandbox
          where tenant_id = ${tx.tenant_id} and forgotten + throttled + conflicting + failed > 0 for update),
      taken as (
        update fault_injection.sandbox s set
          forgotten = next.forgotten - (fault = 'forgotten')::integer,
          throttled = next.throttled - (fault = 'throttled')::integer,
          conflicting = next.conflicting - (fault = 'conflicting')::integer,
          failed = next.failed - (fault = 'failed')::integer
        from next where s.tenant_id = next.tenant_id returning fault)
      select polls, delay_ms, coalesce((select fault from taken), 'none') as fault
      from fault_injection.sandbox where tenant_id = ${tx.tenant_id}`,
  ])
  return met ?? { fault: 'none', polls: 1, delay_ms: 0 }
}

/** Whether acts still take more than one poll. */
async function isSlow(tx: Tx): Promise<boolean> {
  const rows = await tx.read(sql`select from fault_injection.sandbox where tenant_id = ${tx.tenant_id} and polls > 1`)
  return rows.length > 0
}
