import { sql } from '../db/sql.ts'

/** The part of an entitlement's drift that concerns the grant `g`: `removed` its active grants, `added` the last grant that had it. */
const drift = sql`case when e.drift is null then null when e.drift = 'removed' and g.status = 'active' then e.drift
  when e.drift = 'added' and g.id = (select last.id from access_grant last where last.tenant_id = g.tenant_id
    and last.entitlement_id = g.entitlement_id order by last.id desc limit 1) then e.drift end`

/** The state of the grant `g` at its target: a `ProgressRow`, as a column. */
export const progressColumn = sql`json_build_object('status', g.status, 'provisioning_status', g.provisioning_status,
  'since', coalesce(g.step_since, g.updated_at), 'now', statement_timestamp(), 'expires_at', g.expires_at,
  'reference', g.target_reference, 'failures', g.failures, 'last_error', g.last_error, 'activated_at', g.activated_at,
  'is_audited', (select r.audit_session from access_request r where r.tenant_id = g.tenant_id and r.id = g.request_id),
  'at_target', (
    select json_build_object('provisioner_id', e.provisioner_id, 'provisioner', e.provisioner, 'name',
        case when e.provisioner_id is not null then (
          select p.name from provisioner p where p.tenant_id = e.tenant_id and p.id = e.provisioner_id) end,
        'act', e.act, 'is_absent', e.act is null and e.observed = 'absent',
        'reference', e.act_reference, 'failures', e.failures, 'last_error', e.last_error,
        'drift', ${drift}, 'drifted_at', e.drifted_at, 'session_seconds', e.session_seconds,
        'session_note', e.session_note, 'recorded_as', e.recorded_as)
      from entitlement e where e.tenant_id = g.tenant_id and e.id = g.entitlement_id))`
