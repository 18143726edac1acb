import { readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import type { Orphan } from './orphan.ts'

const columns = sql`r.id, r.origin, case when r.ending_since is not null then 'ending'
    when r.origin <> 'ours' then 'listed' when r.held_back then 'held_back' else 'second_look' end as status,
  r.target_key, r.target, r.grant_id, r.epoch::float8 as epoch, r.exclusive, r.first_seen_at, r.listed_at`

/** What the last sweeps found, those of exclusive sets first. */
export function listOrphansPage(tx: Tx, provisioner_id: string, page: PageRequest): Promise<PageRows<Orphan>> {
  return readListPage<Orphan>(
    tx,
    {
      table: sql`orphan r`,
      columns,
      order: { by: sql`(not r.exclusive)`, types: [sql`boolean`, sql`uuid`], descending: false },
      range: [sql`r.provisioner_id = ${provisioner_id}::uuid`],
      filters: [],
      tested: [],
      search: undefined,
    },
    page,
  )
}

export async function findOrphan(
  tx: Tx,
  { provisioner_id, orphan_id }: { provisioner_id: string; orphan_id: string },
): Promise<Orphan | undefined> {
  const [found] = await tx.read(
    sql<Orphan>`select ${columns} from orphan r where r.tenant_id = ${tx.tenant_id} and r.id = ${orphan_id}::uuid
      and r.provisioner_id = ${provisioner_id}::uuid`,
  )
  return found
}
