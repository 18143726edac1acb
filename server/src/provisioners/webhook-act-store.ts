import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'

/** The last act sent to a receiver for an entitlement that is not known to be gone. Its times are of the database's clock. */
export type WebhookAct = {
  id: string
  kind: 'grant' | 'revoke'
  until: string | null
  begun_at: string
  reference: string | null
  outcome: 'done' | 'failed' | null
  message: string | null
  /** How to connect, as the receiver reported it with the outcome: JSON, untrusted. */
  connect: string | null
}

/** Which entitlement of which provisioner. */
export type ActPlace = { provisioner_id: string; target_key: string }

const columns = sql`id, kind, until, begun_at, reference, outcome, message, connect`

/**
 * Records an act before it is sent to the receiver. An act in flight continues with its id and its end, so that the receiver
 * recognizes it. Any other act is new and replaces the one before. An end more than a minute later makes a new act. A new act
 * begins at least a millisecond later than the one before: the receiver believes the later one, even when two transactions
 * overlapped or the database's clock was set back.
 */
export async function beginWebhookAct(
  tx: Tx,
  { provisioner_id, target_key }: ActPlace,
  kind: 'grant' | 'revoke',
  until: Date | null,
): Promise<WebhookAct> {
  const [begun] = await tx.write([
    sql<WebhookAct>`insert into webhook_act as act (tenant_id, id, provisioner_id, target_key, kind, until)
      values (${tx.tenant_id}, ${newId()}, ${provisioner_id}, ${target_key}, ${kind}, ${until}::timestamptz)
      on conflict (tenant_id, provisioner_id, target_key) do update set
        (id, kind, until, begun_at, reference, outcome, message, connect) = (
          select case when goes_on then act.id else excluded.id end, excluded.kind,
            case when goes_on then act.until else excluded.until end,
            case when goes_on then act.begun_at
              else greatest(clock_timestamp(), act.begun_at + interval '1 millisecond') end,
            case when goes_on then act.reference end, null, null, null
          from (select act.kind = excluded.kind and act.outcome is null
            and (act.until is null or excluded.until <= act.until + interval '1 minute') as goes_on) as going)
      returning ${columns}`,
  ])
  if (begun[0] === undefined) throw new Error('an act was not recorded')
  return begun[0]
}

/** The last act on an entitlement. */
export async function findWebhookAct(
  tx: Tx,
  { provisioner_id, target_key }: ActPlace,
): Promise<WebhookAct | undefined> {
  const [found] = await tx.read(
    sql<WebhookAct>`select ${columns} from webhook_act where tenant_id = ${tx.tenant_id}
      and provisioner_id = ${provisioner_id} and target_key = ${target_key}`,
  )
  return found
}

/**
 * Stores the outcome of an act once, and how to connect as it was reported with it: the first outcome counts. The row of a completed revocation is deleted. Returns the key of
 * the entitlement; undefined when no act waits for this outcome.
 */
export async function saveWebhookOutcome(
  tx: Tx,
  { provisioner_id, id }: { provisioner_id: string; id: string },
  outcome: 'done' | 'failed',
  message: string | null,
  connect: string | null = null,
): Promise<string | undefined> {
  const waiting = sql`tenant_id = ${tx.tenant_id} and provisioner_id = ${provisioner_id} and id = ${id}
    and outcome is null`
  const takenAway = sql`(kind = 'revoke' and ${outcome} = 'done')`
  const [gone, saved] = await tx.write([
    sql<{ target_key: string }>`delete from webhook_act where ${waiting} and ${takenAway} returning target_key`,
    sql<{ target_key: string }>`update webhook_act set outcome = ${outcome}, message = ${message},
        connect = ${connect}
      where ${waiting} returning target_key`,
  ])
  return (gone[0] ?? saved[0])?.target_key
}

/** Stores the receiver's first reference for an act that it works on. */
export async function saveWebhookReference(tx: Tx, id: string, reference: string): Promise<void> {
  await tx.write([
    sql`update webhook_act set reference = ${reference}
      where tenant_id = ${tx.tenant_id} and id = ${id} and reference is null`,
  ])
}

/** The database's clock, in milliseconds since 1970. */
export async function readClock(tx: Tx): Promise<number> {
  const [row] = await tx.read(sql<{ ms: number }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`)
  if (row === undefined) throw new Error('the query for the database clock returned no row')
  return row.ms
}
