import { sql } from '../db/sql.ts'

const ms = (moment: ReturnType<typeof sql>) => sql`floor(extract(epoch from ${moment}) * 1000)`

/** How the grant `g` stands with its target: a `ProgressRow`, as a column. */
export const progressColumn = sql`(
  select jsonb_build_object('status', g.status, 'provisioning_status', g.provisioning_status,
    'since_ms', ${ms(sql`coalesce(g.step_since, g.updated_at)`)}, 'now_ms', ${ms(sql`statement_timestamp()`)},
    'expires_ms', ${ms(sql`g.expires_at`)}, 'reference', g.target_reference, 'failures', g.failures, 'last_error', g.last_error,
    'provisioner', case when e.id is not null then
      jsonb_build_object('id', e.provisioner_id, 'type', e.provisioner, 'name', p.name) end,
    'act', e.act, 'act_reference', e.act_reference, 'act_failures', e.failures, 'act_error', e.last_error,
    'drift', drifted.drift, 'drifted_ms', ${ms(sql`drifted.since`)}, 'session_seconds', e.session_seconds)
  from (select) one
    left join entitlement e on e.tenant_id = g.tenant_id and e.id = g.entitlement_id
    left join provisioner p on p.tenant_id = e.tenant_id and p.id = e.provisioner_id
    left join lateral (
      select e.drift, e.drifted_at as since where case e.drift when 'removed' then g.status = 'active'
        when 'added' then g.id = (select last.id from access_grant last where last.tenant_id = g.tenant_id
          and last.entitlement_id = g.entitlement_id order by last.id desc limit 1) end) drifted on true)`
