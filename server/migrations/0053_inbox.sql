-- How risky a request is, and why: known when it is made. Approvers see the risky ones first.
alter table access_request add column risk text not null default 'normal';
alter table access_request add column risk_reasons text[] not null default '{}';

alter table access_request no force row level security;
update access_request set risk = 'high', risk_reasons = '{break_glass}' where break_glass;
alter table access_request force row level security;

alter table access_request add constraint access_request_risk_ck
  check (risk in ('high', 'normal') and (risk = 'high') = (cardinality(risk_reasons) > 0));

-- The order of the inbox: `high` comes before `normal`, and the oldest first.
create index access_request_inbox_ix on access_request (tenant_id, risk, created_at, id) where status = 'pending';
