-- What the receiver of a webhook was last told to do about each entitlement, and how it says that went.
create table webhook_act (
  tenant_id uuid not null,
  -- The id of its messages: tried again, an act is the same to the receiver.
  id uuid not null,
  provisioner_id uuid not null,
  target_key text not null,
  kind text not null constraint webhook_act_kind_ck check (kind in ('grant', 'revoke')),
  -- When access was to end, as it was told; a revoke has none.
  until timestamptz,
  begun_at timestamptz not null default clock_timestamp(),
  -- What the receiver calls it, where it works on it.
  reference text constraint webhook_act_reference_ck check (char_length(reference) between 1 and 200),
  -- Null: it has not said yet.
  outcome text constraint webhook_act_outcome_ck check (outcome in ('done', 'failed')),
  -- Why it failed, in the receiver's words.
  message text constraint webhook_act_message_ck check (char_length(message) <= 500),
  constraint webhook_act_pk primary key (tenant_id, id),
  constraint webhook_act_target_key_uq unique (tenant_id, provisioner_id, target_key),
  constraint webhook_act_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade,
  constraint webhook_act_until_ck check ((kind = 'grant') = (until is not null))
);
alter table webhook_act enable row level security;
alter table webhook_act force row level security;
create policy tenant_wall on webhook_act
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on webhook_act to sallyport_app;
grant update (id, kind, until, begun_at, reference, outcome, message) on webhook_act to sallyport_app;
