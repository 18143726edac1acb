import { setTimeout as pause } from 'node:timers/promises'
import { sql } from '../../db/sql.ts'
import type { Tx } from '../../kernel/context.ts'
import { newId } from '../../kernel/id.ts'
import { type GrantAsk, type Plan, type Progress, type Provisioner, TargetError } from '../provisioner.ts'

/**
 * A pretend cloud, for rehearsal and tests: it keeps its books in the database and answers as the real ones do, later
 * and by reference. A row in `sandbox_weather` makes it hostile to a tenant.
 */
export const sandbox: Provisioner = {
  name: 'sandbox',
  plan,
  grant: (tx, target) => begin(tx, 'create', keyOf(target)),
  revoke: (tx, target) => begin(tx, 'delete', keyOf(target)),
  poll,
  verify: (tx, target) => isHeld(tx, keyOf(target)),
  pollAfterMs: (polls) => Math.min(50 * 2 ** polls, 5_000),
}

type Weather = { polls: number; delay_ms: number; fate: 'failed' | 'throttled' | 'conflicting' | 'forgotten' | null }

const calm: Weather = { polls: 1, delay_ms: 0, fate: null }

async function plan(tx: Tx, ask: GrantAsk): Promise<Plan> {
  const { user, account_id, resource, permission_set, action } = ask
  const key = JSON.stringify([user.id, account_id, resource.type, resource.id, permission_set ?? action])
  return { key, target: { key }, held: await isHeld(tx, key) }
}

async function isHeld(tx: Tx, key: string): Promise<boolean> {
  const rows = await tx.read(sql`select 1 from sandbox_assignment where tenant_id = ${tx.tenant_id} and key = ${key}`)
  return rows.length > 0
}

/** Begins an act, in the weather of the moment. */
async function begin(tx: Tx, kind: 'create' | 'delete', key: string): Promise<Progress> {
  const weather = await nextWeather(tx)
  if (weather.delay_ms > 0) await pause(weather.delay_ms)
  if (weather.fate === 'throttled') throw new TargetError('transient', 'the sandbox is throttling; rate exceeded')
  if (weather.fate === 'conflicting') {
    throw new TargetError('transient', 'the sandbox has another operation on this under way')
  }
  const reference = newId()
  const outcome = weather.fate === 'failed' ? 'FAILED' : 'SUCCEEDED'
  await tx.write([
    sql`insert into sandbox_operation (tenant_id, id, key, kind, polls_left, outcome)
      values (${tx.tenant_id}, ${reference}, ${key}, ${kind}, ${weather.polls}, ${outcome})`,
  ])
  if (weather.fate === 'forgotten') throw new TargetError('transient', 'the sandbox did not answer in time')
  return { done: false, reference }
}

/** Takes one stroke of bad luck off the row, worst first; calm where there is none. */
async function nextWeather(tx: Tx): Promise<Weather> {
  const [rows] = await tx.write([
    sql<Weather>`with before as (
        select * from sandbox_weather where tenant_id = ${tx.tenant_id} for update),
      spent as (
        update sandbox_weather w set
          forgotten = w.forgotten - (before.forgotten > 0)::int,
          throttled = w.throttled - (before.forgotten = 0 and before.throttled > 0)::int,
          conflicting = w.conflicting
            - (before.forgotten = 0 and before.throttled = 0 and before.conflicting > 0)::int,
          failed = w.failed - (before.forgotten = 0 and before.throttled = 0 and before.conflicting = 0
            and before.failed > 0)::int
        from before where w.tenant_id = before.tenant_id)
      select polls, delay_ms, case when forgotten > 0 then 'forgotten' when throttled > 0 then 'throttled'
        when conflicting > 0 then 'conflicting' when failed > 0 then 'failed' end as fate from before`,
  ])
  return rows[0] ?? calm
}

type Polled = { polls_left: number; outcome: 'SUCCEEDED' | 'FAILED' }

/** Asks how an operation is going; the last poll is also when the pretend cloud does it. */
async function poll(tx: Tx, reference: string): Promise<Progress> {
  const [rows] = await tx.write([
    sql<Polled>`with polled as (
        update sandbox_operation set polls_left = greatest(polls_left - 1, 0)
        where tenant_id = ${tx.tenant_id} and id = ${reference} returning *),
      created as (
        insert into sandbox_assignment (tenant_id, key)
        select tenant_id, key from polled where kind = 'create' and polls_left = 0 and outcome = 'SUCCEEDED'
        on conflict do nothing),
      deleted as (
        delete from sandbox_assignment a using polled p
        where a.tenant_id = p.tenant_id and a.key = p.key and p.kind = 'delete' and p.polls_left = 0
          and p.outcome = 'SUCCEEDED')
      select polls_left, outcome from polled`,
  ])
  const [polled] = rows
  if (polled === undefined) throw new TargetError('transient', `the sandbox knows no operation \`${reference}\``)
  if (polled.polls_left > 0) return { done: false, reference }
  if (polled.outcome === 'FAILED') throw new TargetError('permanent', 'the sandbox answered FAILED')
  return { done: true }
}

function keyOf(target: Plan['target']): string {
  return String(target.key)
}
