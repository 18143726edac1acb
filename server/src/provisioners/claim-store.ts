import { sql } from '../db/sql.ts'
import { emit } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { FoundClaim, KeptClaim } from './claim.ts'

const kept = sql`token, token_before, epoch::float8 as epoch, beat_at, holder,
  beat_at < clock_timestamp() - interval '5 minutes' as is_old`

const ofProvisioner = (tx: Tx, provisioner_id: string): Statement =>
  sql`c.tenant_id = ${tx.tenant_id} and c.provisioner_id = ${provisioner_id}::uuid`

export async function findClaim(tx: Tx, provisioner_id: string): Promise<KeptClaim | undefined> {
  const [found] = await tx.read(
    sql<KeptClaim>`select ${kept} from target_claim c where ${ofProvisioner(tx, provisioner_id)}`,
  )
  return found
}

/** `token`: the next one. `replaces`: the one that was found at the target. `beats`: whether the next one takes the place of a kept one. */
type NextClaim = { epoch: number; token: string; replaces: string | undefined; beats: boolean }

/**
 * Keeps a claim before it is written at the target. Of processes that do so at once, one keeps its token, and all of them get it: the kept one
 * gives way only in a later epoch, and to a beat only while the target has it. Otherwise it stays, to be written again. If another held the
 * target, an event says that this is over.
 */
export async function keepClaim(
  ctx: WorkCtx,
  provisioner_id: string,
  { epoch, token, replaces, beats }: NextClaim,
): Promise<KeptClaim | undefined> {
  const { tx } = ctx
  const isNew = sql`(excluded.epoch > c.epoch or (${beats}::boolean and c.token = excluded.token_before))`
  const event = {
    type: 'provisioner.claimed',
    subject_type: 'provisioner',
    subject_id: provisioner_id,
    data: {},
  } as const
  const [[claim]] = await tx.write([
    sql<KeptClaim>`with before as materialized (
        select c.contested_at from target_claim c where ${ofProvisioner(tx, provisioner_id)} for update),
      claimed as (
        insert into target_claim as c (tenant_id, provisioner_id, token, token_before, epoch, beat_at)
        select tenant_id, id, ${token}::uuid, ${replaces ?? null}::uuid, ${epoch}::bigint, clock_timestamp()
        from provisioner left join before on true
        where tenant_id = ${tx.tenant_id} and id = ${provisioner_id}::uuid
        on conflict (tenant_id, provisioner_id) do update set
          token = case when ${isNew} then excluded.token else c.token end,
          token_before = case when not ${isNew} and c.token = excluded.token_before then c.token_before
            else coalesce(excluded.token_before, c.token_before) end,
          held_since = case when c.contested_at is null then c.held_since else clock_timestamp() end,
          beat_at = case when ${isNew} then excluded.beat_at else c.beat_at end,
          epoch = greatest(c.epoch, excluded.epoch), contested_at = null, holder = null
        returning ${kept}),
      regained as (select from before where contested_at is not null),
      emitted as (${emit(ctx, event, sql`regained`)})
      select * from claimed`,
  ])
  return claim
}

/** Notes that another holds the target. The first time, an event says so, and once more where another Sallyport was seen after another party. */
export async function noteContested(ctx: WorkCtx, provisioner_id: string, holder: FoundClaim): Promise<void> {
  const { tx } = ctx
  const data = { holder_installation: holder.installation, holder_epoch: holder.epoch, seen_at: holder.at }
  const event = {
    type: 'provisioner.contested',
    subject_type: 'provisioner',
    subject_id: provisioner_id,
    data,
  } as const
  await tx.write([
    sql`with contested as (
        insert into target_claim as c (tenant_id, provisioner_id, token, epoch, beat_at, contested_at, holder)
        select tenant_id, id, gen_random_uuid(), -1, clock_timestamp(), clock_timestamp(),
          ${JSON.stringify(holder)}::jsonb
        from provisioner where tenant_id = ${tx.tenant_id} and id = ${provisioner_id}::uuid
        on conflict (tenant_id, provisioner_id) do update
          set contested_at = excluded.contested_at, holder = excluded.holder
          where c.contested_at is null
            or (${holder.is_signed}::boolean and not (c.holder -> 'is_signed')::boolean)
        returning c.provisioner_id)
      ${emit(ctx, event, sql`contested`)}`,
  ])
}

/** The claim of the provisioner `r` as in replies. Null for a sandbox, which no other can reach, and before the first claim. */
export function claimAsJson(r: Statement): Statement {
  return sql`case when ${r}.provisioner_type <> 'sandbox' then coalesce(
    (select jsonb_build_object('status', 'read_only', 'since', i.read_only_since)
      from installation i where i.read_only_since is not null),
    (select case when c.contested_at is null then jsonb_build_object('status', 'held', 'since', c.held_since)
        else jsonb_build_object('status', 'contested', 'since', c.contested_at, 'holder', jsonb_build_object(
          'installation', c.holder ->> 'installation', 'epoch', c.holder -> 'epoch', 'seen_at', c.holder ->> 'at')) end
      from target_claim c where c.tenant_id = ${r}.tenant_id and c.provisioner_id = ${r}.id)) end`
}
