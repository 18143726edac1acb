import { actionDescription } from '../actions/action-store.ts'
import { sql } from '../db/sql.ts'
import type { Tx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import type { ResourceReference } from '../requests/request.ts'
import { isActive } from '../users/active-store.ts'
import {
  type Favourite,
  type FavouriteInput,
  type KeptFavourite,
  maxFavourites,
  tooManyFavourites,
} from './favourite.ts'

type Row = Omit<Favourite, 'resource'> & { resource_type: ResourceReference['type']; resource_id: string }

function asFavourite<Of extends Row>({ resource_type: type, resource_id: id, ...row }: Of) {
  return { ...row, resource: { type, id } }
}

/** The user's favourites, the oldest first; those after the one with the id `after`. They are few. */
export async function listFavourites(tx: Tx, user_id: string, after: string | undefined): Promise<KeptFavourite[]> {
  const rows = await tx.read(sql<
    Row & KeptFavourite
  >`select f.id, f.resource_type, f.resource_id, f.action, f.created_at,
      ${actionDescription(tx, sql`f.action`, sql`f.resource_type`)} as action_description
    from favourite f where f.tenant_id = ${tx.tenant_id} and f.user_id = ${user_id}
      and ${after === undefined ? sql`true` : sql`f.id > ${after}::uuid`}
    order by f.id`)
  return rows.map((row) => asFavourite(row))
}

/**
 * Adds a favourite, or returns the one that the user has for the pair. Undefined for a user who is no longer active.
 * @throws Problem 422 for a user who has `maxFavourites`
 */
export async function insertFavourite(
  tx: Tx,
  user_id: string,
  { resource, action }: FavouriteInput,
): Promise<Favourite | undefined> {
  const own = sql`tenant_id = ${tx.tenant_id}::uuid and user_id = ${user_id}::uuid`
  const same = sql`resource_type = ${resource.type} and resource_id = ${resource.id} and action = ${action}`
  const user = sql`from tenant_user u where u.tenant_id = ${tx.tenant_id} and u.id = ${user_id} and ${isActive(sql`u`)}`
  const [locked, , [row]] = await tx.write([
    // A statement of its own, so that the next one counts what the lock waited for.
    sql`select u.id ${user} for no key update`,
    sql`insert into favourite (tenant_id, id, user_id, resource_type, resource_id, action)
      select ${tx.tenant_id}::uuid, ${newId()}::uuid, u.id, ${resource.type}::text, ${resource.id}::text,
        ${action}::text ${user}
        and (select count(*) from favourite where ${own}) < ${maxFavourites}
      on conflict on constraint favourite_pair_uq do nothing`,
    sql<Row>`select id, resource_type, resource_id, action, created_at from favourite where ${own} and ${same}`,
  ])
  if (row !== undefined) return asFavourite(row)
  if (locked.length > 0) throw tooManyFavourites()
  return undefined
}

/** Whether the user had such a favourite. */
export async function deleteFavourite(tx: Tx, user_id: string | null, id: string): Promise<boolean> {
  const [rows] = await tx.write([
    sql`delete from favourite where tenant_id = ${tx.tenant_id} and user_id = ${user_id} and id = ${id} returning id`,
  ])
  return rows.length > 0
}
