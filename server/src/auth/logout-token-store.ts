import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { keptSeconds } from './logout-token.ts'

/** Whether the logout token of this id was obeyed already. */
export async function wasObeyed(service: UnrestrictedTx, id: Buffer): Promise<boolean> {
  const rows = await service.read(sql`select from logout_token where id = ${id} and expires_at > clock_timestamp()`)
  return rows.length > 0
}

/** Keeps the id of an obeyed logout token for a while, and deletes some of those that were kept long enough. */
export async function keepObeyed(service: UnrestrictedTx, id: Buffer): Promise<void> {
  await service.write([
    sql`insert into logout_token (id, expires_at)
      values (${id}, clock_timestamp() + make_interval(secs => ${keptSeconds}::int)) on conflict do nothing`,
    sql`delete from logout_token where id = any(array(
      select id from logout_token where expires_at <= now()
      order by expires_at limit 100 for update skip locked))`,
  ])
}
