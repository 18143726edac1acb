-- The main job: a request, the decisions about it, the grants it leads to, and the ledger of what targets should hold.
create table access_request (
  tenant_id uuid not null constraint access_request_tenant_id_fk references tenant (id),
  id uuid not null,
  requester_id uuid not null,
  resource_type text not null,
  resource_id text not null,
  action text not null,
  reason text,
  status text not null
    constraint access_request_status_ck check (status in ('pending', 'approved', 'denied', 'expired', 'cancelled')),
  decision_reasoning text,
  decided_by uuid,
  approval_mode text not null
    constraint access_request_approval_mode_ck check (approval_mode in ('require', 'auto', 'break_glass')),
  break_glass boolean not null,
  duration_seconds integer not null
    constraint access_request_duration_seconds_ck check (duration_seconds between 60 and 1209600),
  metadata jsonb not null,
  audit_session boolean not null,
  -- Where access would be given, fixed when it was asked for: [{type, id, account_id?, permission_set?}], one grant each.
  places jsonb not null,
  -- The context of the asking, fixed: policy is asked again with it before access is given.
  asked_via text not null constraint access_request_asked_via_ck check (asked_via in ('token', 'api_key')),
  source_ip text not null,
  -- When it expires undecided; null once decided. With lease and generation, the work list of expiry.
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint access_request_pk primary key (tenant_id, id),
  constraint access_request_requester_id_fk foreign key (tenant_id, requester_id) references tenant_user (tenant_id, id),
  constraint access_request_decided_by_fk foreign key (tenant_id, decided_by) references tenant_user (tenant_id, id),
  -- Never one's own.
  constraint access_request_decided_by_ck check (decided_by <> requester_id),
  constraint access_request_pending_ck check ((status = 'pending') = (next_look_at is not null))
);
create index access_request_requester_id_ix on access_request (tenant_id, requester_id, id);
create index access_request_decided_by_ix on access_request (tenant_id, decided_by);
create index access_request_status_ix on access_request (tenant_id, status, id);
create index access_request_due_ix on access_request (next_look_at) where next_look_at is not null;
alter table access_request enable row level security;
alter table access_request force row level security;
create policy tenant_wall on access_request
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on access_request to sallyport_app;
create policy access_request_work on access_request to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on access_request to sallyport_work;
grant update (lease_until, generation) on access_request to sallyport_work;

create function access_request_moves() returns trigger language plpgsql as $$
begin
  raise exception 'a decided request is never decided again' using errcode = 'restrict_violation', constraint = 'access_request_decided';
end
$$;
create trigger access_request_decided before update of status on access_request
  for each row when (old.status <> 'pending') execute function access_request_moves();

-- Every answer of policy, refusals too: the question as it was asked, the rules that decided, under which version.
create table decision (
  tenant_id uuid not null constraint decision_tenant_id_fk references tenant (id),
  id uuid not null,
  request_id uuid,
  question_kind text not null constraint decision_question_kind_ck check (question_kind in ('ask', 'approve')),
  principal_id uuid not null,
  question jsonb not null,
  allowed boolean not null,
  approval_mode text,
  rule_set_version bigint not null,
  rule_ids uuid[] not null,
  errors jsonb not null,
  decided_at timestamptz not null default clock_timestamp(),
  constraint decision_pk primary key (tenant_id, id),
  constraint decision_request_id_fk foreign key (tenant_id, request_id) references access_request (tenant_id, id),
  constraint decision_principal_id_fk foreign key (tenant_id, principal_id) references tenant_user (tenant_id, id)
);
create index decision_request_id_ix on decision (tenant_id, request_id);
create index decision_principal_id_ix on decision (tenant_id, principal_id);
alter table decision enable row level security;
alter table decision force row level security;
create policy tenant_wall on decision
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on decision to sallyport_app;

-- What a target should hold is always computed from the live grants of an entitlement, never from one grant's event.
create table entitlement (
  tenant_id uuid not null constraint entitlement_tenant_id_fk references tenant (id),
  id uuid not null,
  provisioner text not null,
  -- The target's own identity, as the provisioner's plan names it.
  target_key text not null,
  target jsonb not null,
  -- It was there before our first act: somebody else's, never touched.
  held_before boolean not null,
  observed text not null default 'absent'
    constraint entitlement_observed_ck check (observed in ('absent', 'present', 'unknown')),
  -- The act under way, written down before it begins; its reference is the target's own, once it answers.
  act text constraint entitlement_act_ck check (act in ('grant', 'revoke')),
  act_reference text,
  act_polls integer not null default 0,
  failures integer not null default 0,
  last_error text,
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  updated_at timestamptz not null default clock_timestamp(),
  constraint entitlement_pk primary key (tenant_id, id),
  constraint entitlement_target_key_uq unique (tenant_id, provisioner, target_key),
  constraint entitlement_act_reference_ck check (act is not null or act_reference is null)
);
create index entitlement_due_ix on entitlement (next_look_at) where next_look_at is not null;
alter table entitlement enable row level security;
alter table entitlement force row level security;
create policy tenant_wall on entitlement
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on entitlement to sallyport_app;
create policy entitlement_work on entitlement to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on entitlement to sallyport_work;
grant update (lease_until, generation) on entitlement to sallyport_work;

create table access_grant (
  tenant_id uuid not null constraint access_grant_tenant_id_fk references tenant (id),
  id uuid not null,
  request_id uuid not null,
  user_id uuid not null,
  name text not null,
  -- Where access is given: the request's own resource, or one of the accounts it fans out to.
  resource_type text not null,
  resource_id text not null,
  -- The account it lies in, where that is known, and the permission set that was asked for, where one was.
  account_id text,
  permission_set text,
  action text not null,
  duration_seconds integer not null
    constraint access_grant_duration_seconds_ck check (duration_seconds between 60 and 1209600),
  status text not null
    constraint access_grant_status_ck check (status in ('pending', 'active', 'expired', 'revoked', 'failed')),
  provisioning_status text not null constraint access_grant_provisioning_status_ck check (provisioning_status in
    ('not_attempted', 'attempting', 'successful', 'failed', 'deprovisioning', 'deprovisioned', 'deprovisioning_failed')),
  entitlement_id uuid,
  activated_at timestamptz,
  expires_at timestamptz,
  -- When its holder is told that the end is coming; null once told.
  expiring_at timestamptz,
  -- Not active by then: it fails.
  activate_by timestamptz not null,
  ended_at timestamptz,
  ended_by uuid,
  end_reason text,
  failures integer not null default 0,
  last_error text,
  -- The work list of planning: null once the entitlement is known, which from then on has the next look.
  next_look_at timestamptz,
  lease_until timestamptz,
  generation bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint access_grant_pk primary key (tenant_id, id),
  constraint access_grant_request_id_fk foreign key (tenant_id, request_id) references access_request (tenant_id, id),
  constraint access_grant_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint access_grant_ended_by_fk foreign key (tenant_id, ended_by) references tenant_user (tenant_id, id),
  constraint access_grant_entitlement_id_fk foreign key (tenant_id, entitlement_id) references entitlement (tenant_id, id),
  -- One grant a place: an approval that is repeated gives nothing twice.
  constraint access_grant_place_uq unique (tenant_id, request_id, resource_type, resource_id),
  constraint access_grant_active_ck check (
    (activated_at is null) = (expires_at is null) and (status <> 'active' or activated_at is not null)),
  constraint access_grant_ended_ck check ((status in ('pending', 'active')) = (ended_at is null))
);
create index access_grant_user_id_ix on access_grant (tenant_id, user_id, id);
create index access_grant_entitlement_id_ix on access_grant (tenant_id, entitlement_id);
create index access_grant_ended_by_ix on access_grant (tenant_id, ended_by);
create index access_grant_due_ix on access_grant (next_look_at) where next_look_at is not null;
alter table access_grant enable row level security;
alter table access_grant force row level security;
create policy tenant_wall on access_grant
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update on access_grant to sallyport_app;
create policy access_grant_work on access_grant to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on access_grant to sallyport_work;
grant update (lease_until, generation) on access_grant to sallyport_work;

-- pending → active | revoked | failed; active → expired | revoked | failed; failed → pending.
create function access_grant_moves() returns trigger language plpgsql as $$
begin
  raise exception 'a grant does not go from % to %', old.status, new.status
    using errcode = 'restrict_violation', constraint = 'access_grant_transition';
end
$$;
create trigger access_grant_transition before update of status on access_grant
  for each row when (old.status <> new.status and (old.status, new.status) not in (
    ('pending', 'active'), ('pending', 'revoked'), ('pending', 'failed'),
    ('active', 'expired'), ('active', 'revoked'), ('active', 'failed'), ('failed', 'pending')))
  execute function access_grant_moves();
