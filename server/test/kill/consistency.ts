import type { Query } from './acknowledged.ts'

/** A broken invariant of the database at rest; each kind is a column of the campaign's table. */
export type Fault = { kind: 'lost' | 'dangling' | 'doubled' | 'unreported'; what: string }

/** Work that is queued or in progress: none may be left at rest. A mail that waits for the next hour, since a person had many, is at rest. */
const underWay = `
  select 'grant ' || id || ' is ' || status || ', ' || provisioning_status as what from access_grant
    where status = 'pending' or next_look_at is not null
      or provisioning_status in ('attempting', 'deprovisioning', 'deprovisioning_failed')
      or (status = 'active' and expires_at < clock_timestamp() + interval '5 seconds')
  union all
  select 'entitlement ' || id || ' is due, act ' || coalesce(act, 'none') from entitlement
    where act is not null or next_look_at <= clock_timestamp()
  union all
  select 'the delivery ' || id || ' waits: ' || coalesce(last_error, 'not tried') from delivery
    where finished_at is null
  union all
  select 'the mail of notification ' || id || ' waits: ' || coalesce(last_error, 'not tried') from notification_mail
    where state = 'pending' and coalesce(last_error, '') not like 'the person gets at most %'
  union all
  select 'request ' || id || ' is due and still pending' from access_request where next_look_at <= clock_timestamp()
  union all
  select subscriber || ' has not seen ' || type || ' ' || subject_id from event e, event_cursor c
    where (e.xid, e.seq) > (c.xid, c.seq)
  union all
  select 'events wait for ' || subscriber from event_queue
    where next_look_at <= clock_timestamp() or (xid, seq) < (until_xid, until_seq)
  union all
  select subscriber || ' failed on ' || event_id || ': ' || last_error from event_parked`

const live = `g.status = 'active' and g.expires_at > clock_timestamp()`

/** `$1`: the keys that the target holds. Held without a grant, wanted and not held, or in conflict and never checked again. */
const dangling = `
  with wanted as (
    select e.target_key as key from entitlement e join access_grant g
      on g.tenant_id = e.tenant_id and g.entitlement_id = e.id where ${live}),
  held as (select key from unnest($1::text[]) as held (key))
  select 'held without a grant: ' || key as what from held where key not in (select key from wanted)
  union all
  select 'wanted and not held: ' || key from wanted where key not in (select key from held)
  union all
  select 'held ' || count(*) || ' times: ' || key from held group by key having count(*) > 1
  union all
  select 'no check is due for the entitlement ' || e.id from entitlement e where e.next_look_at is null
    and e.observed <> case when exists (select from access_grant g where g.tenant_id = e.tenant_id
      and g.entitlement_id = e.id and g.status in ('pending', 'active')) then 'present' else 'absent' end
  union all
  select 'the grant ' || id || ' was ended ' || expires_at - ended_at || ' too soon' from access_grant
    where status = 'expired' and ended_at < expires_at`

/** One approval makes one grant per place; what happens once has one event and one notification. */
const doubled = `
  select 'the request ' || r.id || ', ' || r.status || ', has ' || count(g.id) || ' grants for ' ||
      jsonb_array_length(r.places) || ' places' as what
    from access_request r left join access_grant g on g.tenant_id = r.tenant_id and g.request_id = r.id
    group by r.tenant_id, r.id
    having count(g.id) <> case when r.status = 'approved' then jsonb_array_length(r.places) else 0 end
  union all
  select count(*) || ' times ' || type || ' of ' || subject_id from event
    where type ~ '^request\\.' and subject_type = 'request' and type <> 'request.reminded'
      or type in ('grant.activated', 'grant.expiring', 'grant.expired', 'grant.revoked')
    group by tenant_id, type, subject_id having count(*) > 1
  union all
  select 'notified ' || count(*) || ' times of ' || event_id from notification
    group by tenant_id, event_id, user_id having count(*) > 1
  union all
  select count(*) || ' decisions to approve ' || request_id from decision where question_kind = 'approve' and allowed
    group by tenant_id, request_id having count(*) > 1`

/** Every state has its event and its decision, every event its state, and every affected user was notified. */
const unreported = `
  with state as (
    select tenant_id, id, 'request.created' as type from access_request
    union all select tenant_id, id, 'request.' || status from access_request where status <> 'pending'
    union all select tenant_id, id, 'request.break_glass' from access_request where approval_mode = 'break_glass'
    union all select tenant_id, id, 'grant.activated' from access_grant where activated_at is not null
    union all select tenant_id, id, 'grant.' || status from access_grant
      where status in ('expired', 'revoked', 'failed')),
  concerned as (
    select e.tenant_id, e.id, e.type, r.requester_id as user_id from event e join access_request r
      on r.tenant_id = e.tenant_id and r.id::text = e.subject_id
      where e.type in ('request.approved', 'request.denied', 'request.expired')
    union all
    select e.tenant_id, e.id, e.type, g.user_id from event e join access_grant g
      on g.tenant_id = e.tenant_id and g.id::text = e.subject_id where e.type ~ '^grant\\.')
  select 'no event ' || type || ' of ' || id as what from state s
    where not exists (select from event e where e.tenant_id = s.tenant_id and e.subject_id = s.id::text
      and e.type = s.type)
  union all
  select 'the event ' || type || ' of ' || subject_id || ' does not match any state' from event e
    where (type ~ '^request\\.' and subject_type = 'request' and type <> 'request.reminded'
      or type in ('grant.activated', 'grant.expired', 'grant.revoked'))
      and not exists (select from state s where s.tenant_id = e.tenant_id and s.id::text = e.subject_id
        and s.type = e.type)
  union all
  select 'no decision is stored for ' || id from access_request r where not exists (
    select from decision d where d.tenant_id = r.tenant_id and d.request_id = r.id and d.allowed
      and d.question_kind = case when r.decided_by is null then 'ask' else 'approve' end)
  union all
  select 'no mail about ' || e.type || ' ' || e.subject_id from event e join notification_channel c
    on c.tenant_id = e.tenant_id and c.created_at < e.at and e.type = any(c.event_filters) and c.enabled
    where not exists (select from delivery d where d.tenant_id = e.tenant_id and d.event_id = e.id
      and d.status = 'delivered')
  union all
  select 'the holder got no mail about ' || e.id from event e join access_grant g
    on g.tenant_id = e.tenant_id and g.id::text = e.subject_id
    join tenant_user u on u.tenant_id = g.tenant_id and u.id = g.user_id and u.email_verified
    where e.type = 'grant.activated' and ${live} and not exists (select from notification n join notification_mail m
      on m.tenant_id = n.tenant_id and m.id = n.id where n.tenant_id = e.tenant_id and n.event_id = e.id)
  union all
  select user_id || ' was not notified of ' || type || ' ' || id from concerned c where not exists (
    select from notification n where n.tenant_id = c.tenant_id and n.event_id = c.id and n.user_id = c.user_id)
  union all
  select 'no approver was notified of ' || e.type || ' ' || e.subject_id from event e join access_request r
    on r.tenant_id = e.tenant_id and r.id::text = e.subject_id
    where (e.type = 'request.break_glass' or e.type = 'request.created' and r.approval_mode = 'require')
      and not exists (select from notification n where n.tenant_id = e.tenant_id and n.event_id = e.id)`

/** One sentence for each item that is queued or in progress. */
export async function findUnderWay(query: Query): Promise<string[]> {
  return (await query<{ what: string }>(underWay)).map(({ what }) => what)
}

/** The broken invariants, once nothing is in progress. `held`: the keys that the target itself reports. */
export async function findFaults(query: Query, held: readonly string[]): Promise<Fault[]> {
  const faults: Fault[] = []
  for (const [kind, question] of Object.entries({ dangling, doubled, unreported })) {
    const rows = await query<{ what: string }>(question, kind === 'dangling' ? [held] : [])
    faults.push(...rows.map(({ what }) => ({ kind: kind as Fault['kind'], what })))
  }
  return faults
}
