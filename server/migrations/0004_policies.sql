-- What is allowed: policies hold ordered rules, each exactly one Cedar statement.
create table policy (
  tenant_id uuid not null constraint policy_tenant_id_fk references tenant (id),
  id uuid not null,
  name text not null constraint policy_name_ck check (char_length(name) between 1 and 200),
  description text not null default '',
  enabled boolean not null default true,
  -- Order chooses words (the governing rule, the first notice), never the decision.
  priority integer not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint policy_pk primary key (tenant_id, id),
  -- Checked at the end of a statement: reordering is one update.
  constraint policy_priority_uq unique (tenant_id, priority) deferrable initially immediate
);
alter table policy enable row level security;
alter table policy force row level security;
create policy tenant_wall on policy
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on policy to sallyport_app;
grant update (name, description, enabled, priority, updated_at) on policy to sallyport_app;

create table policy_rule (
  tenant_id uuid not null constraint policy_rule_tenant_id_fk references tenant (id),
  id uuid not null,
  policy_id uuid not null,
  ordinal integer not null,
  effect text not null constraint policy_rule_effect_ck check (effect in ('permit', 'forbid')),
  principal_scope_type text not null
    constraint policy_rule_principal_scope_type_ck check (principal_scope_type in ('any', 'eq', 'in', 'is', 'is_in')),
  principal_entity_type text,
  principal_entity_id text,
  action_scope_type text not null
    constraint policy_rule_action_scope_type_ck check (action_scope_type in ('any', 'eq', 'in')),
  action_ids text[] not null,
  resource_scope_type text not null
    constraint policy_rule_resource_scope_type_ck check (resource_scope_type in ('any', 'eq', 'in', 'is', 'is_in')),
  resource_entity_type text,
  resource_entity_id text,
  conditions text,
  policy_text text not null constraint policy_rule_policy_text_ck check (octet_length(policy_text) <= 20000),
  notice text,
  audit_session boolean not null,
  approval_mode text
    constraint policy_rule_approval_mode_ck check (approval_mode in ('require', 'auto', 'break_glass')),
  -- An automatic approval is never granted by a rule that the requester saved last.
  saved_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint policy_rule_pk primary key (tenant_id, id),
  constraint policy_rule_policy_id_fk foreign key (tenant_id, policy_id) references policy (tenant_id, id) on delete cascade,
  constraint policy_rule_saved_by_fk foreign key (tenant_id, saved_by) references tenant_user (tenant_id, id)
);
create index policy_rule_policy_id_ix on policy_rule (tenant_id, policy_id, ordinal, id);
create index policy_rule_saved_by_ix on policy_rule (tenant_id, saved_by);
alter table policy_rule enable row level security;
alter table policy_rule force row level security;
create policy tenant_wall on policy_rule
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on policy_rule to sallyport_app;

-- What policy may know of an account: its name, its tags and its units, never the requester's word.
create table cloud_account (
  tenant_id uuid not null constraint cloud_account_tenant_id_fk references tenant (id),
  id text not null,
  name text not null,
  account_id text not null,
  metadata jsonb not null,
  rank integer not null,
  updated_at timestamptz not null default clock_timestamp(),
  constraint cloud_account_pk primary key (tenant_id, id)
);
create index cloud_account_rank_ix on cloud_account (tenant_id, rank, name, id);
create index cloud_account_account_id_ix on cloud_account (tenant_id, account_id);
alter table cloud_account enable row level security;
alter table cloud_account force row level security;
create policy tenant_wall on cloud_account
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on cloud_account to sallyport_app;
