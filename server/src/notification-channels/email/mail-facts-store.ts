import { namedAccountColumns } from '../../cloud/cloud-account-store.ts'
import { sql } from '../../db/sql.ts'
import { isMade } from '../../grants/entitlement-store.ts'
import { extendedUntil, extensionNow } from '../../grants/extension-store.ts'
import type { Statement, Tx } from '../../kernel/context.ts'
import { sameAddress } from '../../kernel/email-address.ts'
import { isUuid } from '../../kernel/id.ts'
import type { EventFacts, GrantFacts, RecordFacts, RequestFacts } from '../../messages/event-facts.ts'
import { actorOf } from '../../messages/record-words.ts'
import { readSettingValues } from '../../settings/setting.ts'
import { settingsAsJson } from '../../settings/setting-store.ts'
import type { DeliveredEvent } from '../carrier.ts'

/** Of a user. */
const nameAndAddress = sql`name || ' (' || email || ')'`

/** The columns that every mail needs. */
type Surroundings = { stored: Record<string, string>; actor_name: string | null }

function surroundings(tx: Tx, { actor_id, type }: DeliveredEvent): Statement {
  // The actor of a suspension may be an attacker, whose name alone could be like another's.
  const shown = type === 'user.suspended' ? nameAndAddress : sql`name`
  return sql`${settingsAsJson(tx)} as stored,
    (select ${shown} from tenant_user where tenant_id = ${tx.tenant_id}::uuid and id = ${actor_id}::uuid) as actor_name`
}

function eventFacts(event: DeliveredEvent, { stored, actor_name }: Surroundings): EventFacts {
  const { at, subject_id, data } = event
  const nobody = event.actor_kind === 'operator' ? 'The operator' : 'Sallyport'
  const zone = readSettingValues(stored)['timezone.default']
  return { at, actor: actor_name ?? event.actor_id ?? nobody, zone, subject_id, data }
}

/** Facts that mails leave out: what people write to each other is for those who may see the request, not for a mailbox. */
export const withheldOfRequest = { comment: null }

/** The facts of an event's request for its mail, in one round trip; undefined when there is none. */
export async function findRequestFacts(tx: Tx, event: DeliveredEvent): Promise<RequestFacts | undefined> {
  const accounts = sql`array(select distinct place ->> 'account_id' from jsonb_array_elements(request.places) place
    where place ->> 'account_id' is not null order by 1)`
  const [found] = await tx.read(
    sql<Surroundings & Omit<RequestFacts, keyof EventFacts | 'comment'>>`select request.action, request.resource_type,
        request.resource_id, ${namedAccountColumns(tx, accounts)}, ${person(sql`requester`)} as requester,
        request.requester_id is not distinct from ${event.actor_id}::uuid as is_own, request.reason,
        request.created_at as asked_at, request.duration_seconds, request.approved_duration_seconds,
        request.extends is not null as is_extension, request.approval_mode, request.status,
        request.decision_reasoning, request.audit_session, decider.name as decided_by,
        case when request.status = 'pending' then request.next_look_at end as waits_until, ${surroundings(tx, event)}
      from access_request request
      join tenant_user requester on requester.tenant_id = request.tenant_id and requester.id = request.requester_id
      left join tenant_user decider on decider.tenant_id = request.tenant_id and decider.id = request.decided_by
      where request.tenant_id = ${tx.tenant_id}::uuid and request.id = ${uuidOrNull(event.subject_id)}::uuid`,
  )
  return found && { ...found, ...withheldOfRequest, ...eventFacts(event, found) }
}

/**
 * The facts of an event's grant for a mail to that address, in one round trip; undefined when there is none. Only the holder reads
 * how to connect: the other readers of a channel may not be allowed to see the grant.
 */
export async function findGrantFacts(
  tx: Tx,
  event: DeliveredEvent,
  recipient: string,
): Promise<GrantFacts | undefined> {
  const accounts = sql`array_remove(array[held.account_id], null)`
  const [found] = await tx.read(
    sql<Surroundings & Omit<GrantFacts, keyof EventFacts>>`select
        held.action, held.permission_set, held.resource_type, held.resource_id, ${namedAccountColumns(tx, accounts)},
        ${person(sql`holder`)} as holder,
        held.user_id is not distinct from ${event.actor_id}::uuid as is_own, request.reason, held.status,
        held.provisioning_status, held.expires_at, held.end_reason, held.last_error,
        ${extendedUntil(sql`held`)} as extended_until,
        case when ${event.type}::text = 'grant.expiring' then ${extensionNow(tx, sql`held`)} end as extension,
        coalesce(target.name, case when entitlement.provisioner = 'sandbox' then 'the sandbox' end) as provisioner,
        coalesce(target.corrects_drift or (${event.data.drift === 'added'}::boolean
          and ${isMade(sql`entitlement.target`)}), false) as corrects_drift,
        case when held.status = 'active' then entitlement.connect end as connect, ${surroundings(tx, event)}
      from access_grant held
      join tenant_user holder on holder.tenant_id = held.tenant_id and holder.id = held.user_id
      join access_request request on request.tenant_id = held.tenant_id and request.id = held.request_id
      left join entitlement on entitlement.tenant_id = held.tenant_id and entitlement.id = held.entitlement_id
      left join provisioner target on target.tenant_id = held.tenant_id and target.id = entitlement.provisioner_id
      where held.tenant_id = ${tx.tenant_id}::uuid and held.id = ${uuidOrNull(event.subject_id)}::uuid`,
  )
  if (found === undefined) return undefined
  const { email } = found.holder
  const isToHolder = email !== null && sameAddress(email, recipient)
  return { ...found, connect: isToHolder ? found.connect : null, ...eventFacts(event, found) }
}

/** The facts of an administrative event's record, and the users it names, in one round trip. */
export async function readRecordFacts(tx: Tx, event: DeliveredEvent): Promise<RecordFacts> {
  const { subject_type, subject_id, data } = event
  const people = textsIn(data, ['user_id', 'created_by']).filter(isUuid)
  const roles = textsIn(data, ['roles', 'added', 'removed'])
  const [found] = await tx.read(
    sql<Surroundings & Omit<RecordFacts, keyof EventFacts>>`select ${subject_type}::text as subject_type,
        ${recordName(tx, subject_type, subject_id)} as name,
        (select coalesce(jsonb_object_agg(id, name), '{}') from tenant_user
          where tenant_id = ${tx.tenant_id}::uuid and id = any(${people}::uuid[])) as people,
        (select coalesce(jsonb_object_agg(id, name), '{}') from role
          where tenant_id = ${tx.tenant_id}::uuid and id = any(${roles}::text[])) as roles, ${surroundings(tx, event)}`,
  )
  if (found === undefined) throw new Error('the query for the facts of an event returned no row')
  const facts = eventFacts(event, found)
  return { ...found, ...facts, actor: actorOf(event.actor_kind, facts.actor) }
}

const recordTables: Readonly<Record<string, Statement>> = {
  api_key: sql`api_key`,
  group: sql`tenant_group`,
  identity_provider: sql`identity_provider`,
  notification_channel: sql`notification_channel`,
  policy: sql`policy`,
  provisioner: sql`provisioner`,
}

/** The name of a record; null when it is deleted, or has none. */
function recordName(tx: Tx, subject_type: string, subject_id: string): Statement {
  const mine = sql`tenant_id = ${tx.tenant_id}::uuid`
  if (subject_type === 'role') return sql`(select name from role where ${mine} and id = ${subject_id}::text)`
  const id = uuidOrNull(subject_id)
  if (subject_type === 'user') {
    return sql`(select ${nameAndAddress} from tenant_user where ${mine} and id = ${id}::uuid)`
  }
  const table = Object.hasOwn(recordTables, subject_type) ? recordTables[subject_type] : undefined
  return table === undefined ? sql`null::text` : sql`(select name from ${table} where ${mine} and id = ${id}::uuid)`
}

function person(row: Statement): Statement {
  return sql`jsonb_build_object('name', ${row}.name, 'email', ${row}.email)`
}

function uuidOrNull(text: string): string | null {
  return isUuid(text) ? text : null
}

/** The texts of these fields, including those in lists. */
function textsIn(data: Record<string, unknown>, fields: readonly string[]): string[] {
  return fields.flatMap((field) => data[field]).filter((value) => typeof value === 'string')
}
