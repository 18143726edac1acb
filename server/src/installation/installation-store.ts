import { failureOf } from '../db/client/failure.ts'
import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import type { Statement } from '../kernel/context.ts'
import type { Installation } from './installation.ts'

/** Where the rows are: the cluster of databases, the database, and the timeline, which a failover changes. */
type Whereabouts = { system_identifier: string; database_oid: string; timeline: string }

const columns = sql`id, epoch::float8 as epoch, adopted_epoch::float8 as adopted_epoch,
  case when read_only_since is not null
    then jsonb_build_object('since', read_only_since, 'reason', read_only_reason) end as read_only`

/** A new epoch is greater than every one before it, also than those that a restore lost. All that is there now was there before it. */
const newEpoch = sql`greatest(i.epoch + 1, ceil(extract(epoch from statement_timestamp())))::bigint`

/** Reads where the database is; undefined where the server does not say, as some services on PostgreSQL's protocol. */
async function readWhereabouts(service: UnrestrictedTx): Promise<Whereabouts | undefined> {
  try {
    const [here] = await service.read(
      sql<Whereabouts>`select system_identifier::text,
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline,
        (select oid::text from pg_database where datname = current_database()) as database_oid
        from pg_control_system()`,
    )
    return here
  } catch (error) {
    if (['other', 'forbidden'].includes(failureOf(error))) return undefined
    throw error
  }
}

/**
 * Reads the installation. Where its rows are in another database than before, a new epoch begins, and nothing is changed at targets. On another
 * timeline of the same database a new epoch begins: a failover may have lost the last commits.
 */
export async function recognizeInstallation(service: UnrestrictedTx): Promise<Installation> {
  const here = await readWhereabouts(service)
  const [, [found]] = await service.write([
    here === undefined ? sql`select` : noteWhereabouts(here),
    sql<Installation>`select ${columns} from installation`,
  ])
  return required(found)
}

function noteWhereabouts({ system_identifier, database_oid, timeline }: Whereabouts): Statement {
  const moved = sql`(i.system_identifier is not null and (i.system_identifier, i.database_oid)
    is distinct from (${system_identifier}, ${database_oid}::bigint))`
  const isElsewhere = sql`(${moved} or i.timeline <> ${timeline})`
  return sql`update installation i set system_identifier = ${system_identifier}, database_oid = ${database_oid}::bigint,
      timeline = ${timeline}, epoch = case when ${isElsewhere} then ${newEpoch} else i.epoch end,
      read_only_since = case when ${moved} then coalesce(i.read_only_since, clock_timestamp())
        else i.read_only_since end,
      read_only_reason = case when ${moved} then coalesce(i.read_only_reason, 'moved') else i.read_only_reason end
    where (i.system_identifier, i.database_oid, i.timeline)
      is distinct from (${system_identifier}, ${database_oid}::bigint, ${timeline})`
}

/** The operator says that this is the original: a new epoch begins, which overrules what others claim at targets. */
export async function adoptInstallation(service: UnrestrictedTx): Promise<Installation> {
  // Where the rows are now is what is adopted.
  await recognizeInstallation(service)
  const [[adopted]] = await service.write([
    sql<Installation>`update installation i set epoch = ${newEpoch}, adopted_epoch = ${newEpoch},
      read_only_since = null, read_only_reason = null returning ${columns}`,
  ])
  return required(adopted)
}

function required(row: Installation | undefined): Installation {
  if (row === undefined) throw new Error('the table `installation` has no row; restore the database from a backup')
  return row
}

/** Across tenants, for monitoring; read it as `sallyport_work`. */
export type TargetsHeldBack = { read_only: boolean; contested: number }

const maxCounted = 10_000

export function targetsHeldBack(): Statement<TargetsHeldBack> {
  return sql<TargetsHeldBack>`select
    (select read_only_since is not null from installation) as read_only,
    (select count(*)::int from (select from target_claim where contested_at is not null limit ${maxCounted}) c)
      as contested`
}
