import { namedAccountColumns } from '../cloud/cloud-account-store.ts'
import { plannedOnce, sql } from '../db/sql.ts'
import type { DeliveredEvent } from '../events/deliver.ts'
import { extendedUntil, extensionNow } from '../grants/extension-store.ts'
import type { Statement, Tx } from '../kernel/context.ts'
import type { GrantFacts, RecordFacts, RequestFacts } from '../messages/event-facts.ts'
import { actorOf } from '../messages/record-words.ts'

/** Facts that notifications leave out, or do not have. */
const withheld = { zone: 'UTC' }
export const withheldOfRequest = { ...withheld, audit_session: false, data: {} }
export const withheldOfGrant = { ...withheld, reason: null, provisioner: null, corrects_drift: null }

/** The facts read from the database; the others come with the event, or are withheld. */
type Read<Facts, Withheld> = Omit<Facts, keyof Withheld | 'at' | 'subject_id' | 'data'>

/** The actor when no person caused the event. */
const ourselves = 'Sallyport'

type RequestRow = Read<RequestFacts, typeof withheldOfRequest> & { event_id: string; requester_id: string }

/** The requests of events, by the event's id, with the facts that their recipients may know. */
export async function findRequestFacts(
  tx: Tx,
  events: readonly DeliveredEvent[],
): Promise<Map<string, RequestFacts & { requester_id: string }>> {
  if (events.length === 0) return new Map()
  const each = (field: 'id' | 'subject_id' | 'actor_id') => events.map((event) => event[field])
  const comment_ids = events.map(({ data: { comment_id = null } }) => comment_id)
  const found = await tx.read(
    plannedOnce(sql<RequestRow>`select event.id as event_id, request.requester_id,
      ${person(sql`requester`)} as requester, request.resource_type, request.resource_id, request.action,
      ${namedAccountColumns(tx, ownAccount(sql`request`))},
      request.reason, request.created_at as asked_at, request.approval_mode, request.duration_seconds, request.status,
      request.approved_duration_seconds, request.extends is not null as is_extension,
      request.decision_reasoning, decider.name as decided_by, coalesce(actor.name, ${ourselves}::text) as actor,
      request.requester_id is not distinct from event.actor_id as is_own,
      case when request.status = 'pending' and request.next_look_at > clock_timestamp()
        then request.next_look_at end as waits_until,
      (select c.text from request_comment c
        where c.tenant_id = request.tenant_id and c.id = event.comment_id) as comment
    from unnest(${each('id')}::uuid[], ${each('subject_id')}::uuid[], ${each('actor_id')}::uuid[],
      ${comment_ids}::uuid[]) as event (id, subject_id, actor_id, comment_id)
    ${byKey(tx, sql`access_request`, sql`request`, sql`event.subject_id`)}
    ${byKey(tx, sql`tenant_user`, sql`requester`, sql`request.requester_id`)}
    left ${byKey(tx, sql`tenant_user`, sql`decider`, sql`request.decided_by`)}
    left ${byKey(tx, sql`tenant_user`, sql`actor`, sql`event.actor_id`)}`),
  )
  const requests = new Map(found.map(({ event_id, ...request }) => [event_id, request]))
  return new Map(
    events.flatMap(({ id, at, subject_id }) => {
      const request = requests.get(id)
      return request === undefined ? [] : [[id, { ...request, ...withheldOfRequest, at, subject_id }] as const]
    }),
  )
}

type GrantRow = Read<GrantFacts, typeof withheldOfGrant> & { event_id: string; holder_id: string }

/** The grants of events, by the event's id, with the facts that their holders may know. */
export async function findGrantFacts(
  tx: Tx,
  events: readonly DeliveredEvent[],
): Promise<Map<string, GrantFacts & { holder_id: string }>> {
  if (events.length === 0) return new Map()
  const each = (field: 'id' | 'type' | 'subject_id' | 'actor_id') => events.map((event) => event[field])
  const found = await tx.read(
    plannedOnce(sql<GrantRow>`select event.id as event_id, held.user_id as holder_id, ${person(sql`holder`)} as holder,
      held.resource_type, held.resource_id, held.action, held.permission_set, held.status, held.provisioning_status,
      ${namedAccountColumns(tx, ownAccount(sql`held`))},
      held.expires_at, held.end_reason, coalesce(actor.name, ${ourselves}::text) as actor,
      event.actor_id is not distinct from held.user_id as is_own, ${extendedUntil(sql`held`)} as extended_until,
      case when event.type = 'grant.expiring' then ${extensionNow(tx, sql`held`)} end as extension,
      case when held.status = 'active' then entitlement.connect end as connect,
      case when event.type = 'grant.failed' then held.last_error end as last_error
    from unnest(${each('id')}::uuid[], ${each('type')}::text[], ${each('subject_id')}::uuid[],
      ${each('actor_id')}::uuid[]) as event (id, type, subject_id, actor_id)
    ${byKey(tx, sql`access_grant`, sql`held`, sql`event.subject_id`)}
    ${byKey(tx, sql`tenant_user`, sql`holder`, sql`held.user_id`)}
    left ${byKey(tx, sql`entitlement`, sql`entitlement`, sql`held.entitlement_id`)}
    left ${byKey(tx, sql`tenant_user`, sql`actor`, sql`event.actor_id`)}`),
  )
  const grants = new Map(found.map(({ event_id, ...grant }) => [event_id, grant]))
  return new Map(
    events.flatMap(({ id, at, subject_id, data }) => {
      const grant = grants.get(id)
      return grant === undefined ? [] : [[id, { ...grant, ...withheldOfGrant, at, subject_id, data }] as const]
    }),
  )
}

/** The channel of an event; undefined once it is deleted. */
export async function findChannelFacts(tx: Tx, { at, subject_id }: DeliveredEvent): Promise<RecordFacts | undefined> {
  const [found] = await tx.read(
    sql<{ name: string }>`select name from notification_channel
      where tenant_id = ${tx.tenant_id}::uuid and id = ${subject_id}::uuid`,
  )
  const event = { at, subject_id, actor: ourselves, zone: 'UTC', data: {}, people: {}, roles: {} }
  return found && { ...event, subject_type: 'notification_channel', name: found.name }
}

/** The directory that an event is about; undefined once it is deleted. */
export async function findDirectoryFacts(
  tx: Tx,
  { at, subject_id, data }: DeliveredEvent,
): Promise<RecordFacts | undefined> {
  const [found] = await tx.read(
    sql<{ name: string }>`select name from identity_provider
      where tenant_id = ${tx.tenant_id}::uuid and id = ${subject_id}::uuid`,
  )
  const event = { at, subject_id, actor: ourselves, zone: 'UTC', data, people: {}, roles: {} }
  return found && { ...event, subject_type: 'identity_provider', name: found.name }
}

/** The user whom an event is about, and who did it, both with their addresses: for people who may read users. */
export async function findUserFacts(
  tx: Tx,
  { at, actor_kind, actor_id, subject_id, data }: DeliveredEvent,
): Promise<RecordFacts | undefined> {
  const [found] = await tx.read(
    sql<{ name: string; actor_name: string | null }>`select ${withAddress(sql`u`)} as name,
        ${withAddress(sql`actor`)} as actor_name
      from tenant_user u left join tenant_user actor on actor.tenant_id = u.tenant_id and actor.id = ${actor_id}::uuid
      where u.tenant_id = ${tx.tenant_id}::uuid and u.id = ${subject_id}::uuid`,
  )
  if (found === undefined) return undefined
  const event = { at, subject_type: 'user', subject_id, zone: 'UTC', data, people: {}, roles: {} }
  return { ...event, name: found.name, actor: actorOf(actor_kind, found.actor_name ?? ourselves) }
}

/**
 * The number of the account that `row`, a request or a grant, is for, as its record names it to everybody who may see it. Those of a permission
 * set are left out.
 */
function ownAccount(row: Statement): Statement {
  return sql`case when ${row}.resource_type = 'cloud_account' then array[${row}.resource_id] else '{}' end`
}

/** Joins the row with this id, as `name`. The limit keeps the planner from reading all rows of the table for a batch of events. */
function byKey(tx: Tx, table: Statement, name: Statement, id: Statement): Statement {
  return sql`join lateral (select * from ${table} one
    where one.tenant_id = ${tx.tenant_id}::uuid and one.id = ${id} limit 1) ${name} on true`
}

function withAddress(row: Statement): Statement {
  return sql`${row}.name || ' (' || ${row}.email || ')'`
}

function person(row: Statement): Statement {
  return sql`jsonb_build_object('name', ${row}.name, 'email', null)`
}
