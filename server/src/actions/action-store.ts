import { readListPage } from '../db/list-page.ts'
import { sql } from '../db/sql.ts'
import { emit, type NewEvent } from '../events/emit.ts'
import type { Statement, Tx, WorkCtx } from '../kernel/context.ts'
import type { PageRequest, PageRows } from '../kernel/page.ts'
import { type DescribedAction, maxDescribedActions, tooManyDescribed, typesGivenBySets } from './action.ts'

const shown = sql`action, description, updated_at`

/**
 * The description of an action on a resource of this type, as a value to embed in another statement; null where it has none. Where the
 * tenant has none of its own, it is that of the permission set which the action names.
 */
export function actionDescription(tx: Tx, action: Statement, resource_type: Statement): Statement {
  return sql`coalesce(${ownDescription(tx, action)},
    case when ${resource_type} = any(${[...typesGivenBySets]}::text[]) then ${setDescription(tx, action)} end)`
}

function ownDescription(tx: Tx, action: Statement): Statement {
  return sql`(select d.description from action_description d
    where d.tenant_id = ${tx.tenant_id}::uuid and d.action = ${action})`
}

/** What AWS says of the permission set with this name or ARN. One of several instances is enough: they rarely differ. */
function setDescription(tx: Tx, action: Statement): Statement {
  const ofSetWith = (key: Statement) => sql`(select s.description from inventory_resource s
    where s.tenant_id = ${tx.tenant_id}::uuid and s.resource_type = 'cloud_permission_set' and ${key} = ${action}
      and s.description is not null order by s.provisioner_id limit 1)`
  return sql`coalesce(${ofSetWith(sql`s.name`)}, ${ofSetWith(sql`s.id`)})`
}

/** The descriptions of these actions, by action, as one value to embed in another statement. */
export function descriptionsAsJson(tx: Tx, actions: readonly string[]): Statement {
  if (actions.length === 0) return sql`'{}'::jsonb`
  return sql`(select jsonb_object_agg(a.action, jsonb_build_object(
      'own', ${ownDescription(tx, sql`a.action`)}, 'of_set', ${setDescription(tx, sql`a.action`)}))
    from unnest(${[...actions]}::text[]) as a (action))`
}

/** One page in the order of the actions; a search by words comes in the order of the found word. */
export function listDescribedActions(
  tx: Tx,
  q: string | undefined,
  page: PageRequest,
): Promise<PageRows<DescribedAction>> {
  const [id, text] = [sql`r.id`, sql`text`]
  const list = {
    table: sql`(select d.*, d.action as id from action_description d) r`,
    columns: shown,
    order: { by: id, id, types: [text, text], descending: false },
    range: [],
    filters: [],
    tested: [],
    search: q === undefined ? undefined : { q, words, first: true },
  } as const
  return readListPage<DescribedAction>(tx, list, page)
}

const words = { table: sql`action_word`, id: sql`action` }

export async function findDescribedAction(tx: Tx, action: string): Promise<DescribedAction | undefined> {
  const [found] = await tx.read(sql<DescribedAction>`select ${shown} from action_description
    where tenant_id = ${tx.tenant_id} and action = ${action}`)
  return found
}

/**
 * Describes an action that has no description, and emits the event. Undefined when another request described it meanwhile.
 * @throws Problem 422 for a tenant that has `maxDescribedActions`
 */
export async function insertDescription(
  ctx: WorkCtx,
  action: string,
  description: string,
): Promise<DescribedAction | undefined> {
  const { tenant_id } = ctx.tx
  const [, [made], [there]] = await ctx.tx.write([
    // A statement of its own, so that the next one counts what the lock waited for.
    sql`select from tenant where id = ${tenant_id} for no key update`,
    sql<DescribedAction>`with made as (
        insert into action_description (tenant_id, action, description)
        select ${tenant_id}::uuid, ${action}::text, ${description}::text
        where (select count(*) from action_description where tenant_id = ${tenant_id}) < ${maxDescribedActions}
        on conflict on constraint action_description_pk do nothing
        returning ${shown}),
      emitted as (${emit(ctx, described(action, { old: null, new: description }), sql`made`)})
      select ${shown} from made`,
    sql`select from action_description where tenant_id = ${tenant_id} and action = ${action}::text`,
  ])
  if (there === undefined) throw tooManyDescribed()
  return made
}

/** What a change or a removal replaces. */
type Before = Pick<DescribedAction, 'action' | 'description' | 'updated_at'>

/**
 * Replaces the description and emits an event with the old and the new one. Undefined when another request changed or removed it
 * meanwhile.
 */
export async function updateDescription(
  ctx: WorkCtx,
  before: Before,
  description: string,
): Promise<DescribedAction | undefined> {
  const event = described(before.action, { old: before.description, new: description })
  const [[saved]] = await ctx.tx.write([
    sql<DescribedAction>`with changed as (
        update action_description set description = ${description}, updated_at = clock_timestamp()
        where ${isStill(ctx.tx, before)}
        returning ${shown}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select ${shown} from changed`,
  ])
  return saved
}

/** Removes the description and emits an event with it; false when another request changed or removed it meanwhile. */
export async function deleteDescription(ctx: WorkCtx, before: Before): Promise<boolean> {
  const event = {
    type: 'action.description_removed',
    subject_type: 'action',
    subject_id: before.action,
    data: { old: before.description },
  } as const
  const [gone] = await ctx.tx.write([
    sql`with gone as (
        delete from action_description where ${isStill(ctx.tx, before)} returning action),
      emitted as (${emit(ctx, event, sql`gone`)})
      select action from gone`,
  ])
  return gone.length > 0
}

/** The guard: the row is as it was read. Moments are read in milliseconds. */
function isStill(tx: Tx, { action, description, updated_at }: Before): Statement {
  return sql`tenant_id = ${tx.tenant_id}::uuid and action = ${action}::text and description = ${description}::text
    and date_trunc('milliseconds', updated_at) = ${updated_at}::timestamptz`
}

function described(action: string, data: { old: string | null; new: string }): NewEvent {
  return { type: 'action.described', subject_type: 'action', subject_id: action, data }
}
