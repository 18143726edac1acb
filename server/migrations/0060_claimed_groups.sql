-- A claim of the tenant's sign-in provider puts users into groups, by mappings that callers with the rights of the group vouched for.
alter table sign_in_setting
  -- The claim with the values; null: claims give no groups.
  add column groups_claim text constraint sign_in_setting_groups_claim_ck check (char_length(groups_claim) between 1 and 200);
grant update (groups_claim) on sign_in_setting to sallyport_app;

alter table tenant_group
  -- The sign-in provider whose claims alone give memberships.
  add column sign_in_provider_id uuid,
  add constraint tenant_group_sign_in_provider_id_fk
    foreign key (tenant_id, sign_in_provider_id) references sign_in_setting (tenant_id, id),
  add constraint tenant_group_sign_in_provider_id_ck check (sign_in_provider_id is null or source = 'identity_provider');
create index tenant_group_sign_in_provider_id_ix on tenant_group (tenant_id, sign_in_provider_id)
  where sign_in_provider_id is not null;

create table group_mapping (
  tenant_id uuid not null constraint group_mapping_tenant_id_fk references tenant (id),
  id uuid not null,
  -- A value of the claim, compared exactly.
  value text collate "C" not null constraint group_mapping_value_ck check (char_length(value) between 1 and 500),
  group_id uuid not null,
  -- A membership by the mapping counts as given by its author, at its time. Null: no person.
  mapped_by uuid,
  mapped_at timestamptz not null default clock_timestamp(),
  -- What the group conferred when a caller with all of it vouched for the mapping. It is in effect while the group confers no more.
  vouched_scopes text[] not null,
  constraint group_mapping_pk primary key (tenant_id, id),
  constraint group_mapping_value_uq unique (tenant_id, value, group_id),
  constraint group_mapping_group_id_fk foreign key (tenant_id, group_id) references tenant_group (tenant_id, id) on delete cascade,
  constraint group_mapping_mapped_by_fk foreign key (tenant_id, mapped_by) references tenant_user (tenant_id, id)
);
create index group_mapping_group_id_ix on group_mapping (tenant_id, group_id);
create index group_mapping_mapped_by_ix on group_mapping (tenant_id, mapped_by);
alter table group_mapping enable row level security;
alter table group_mapping force row level security;
create policy tenant_wall on group_mapping
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete, update (vouched_scopes, mapped_by, mapped_at) on group_mapping to sallyport_app;

alter table group_member
  -- The mapping that gave the membership. It may be gone, and the membership then counts no longer. Null: no claim gave it.
  add column mapping_id uuid,
  -- When it was given, where that was before it began: by a mapping. Null: when it began.
  add column given_at timestamptz,
  -- Until when it counts. Null: until it is removed.
  add column expires_at timestamptz,
  -- Why it counts no longer, where that is not for its age: what the event says that ends it.
  add column end_cause text,
  add constraint group_member_end_cause_ck check (end_cause is null or mapping_id is not null),
  add constraint group_member_claimed_ck check ((mapping_id is null) = (expires_at is null) and (mapping_id is null) = (given_at is null));
create index group_member_mapping_id_ix on group_member (tenant_id, mapping_id) where mapping_id is not null;
-- Those of a group that have ended, and are still to be deleted: its members are counted without reading each of them.
create index group_member_expires_at_ix on group_member (tenant_id, group_id, expires_at) where expires_at is not null;
grant update (mapping_id, added_by, given_at, expires_at, end_cause) on group_member to sallyport_app;

-- A sign-in moves the end of a membership, which changes no right that is held now.
drop trigger group_member_authority on group_member;
create trigger group_member_authority after insert or delete on group_member for each row
  execute function authority_changed();
create trigger group_member_authority_change after update on group_member for each row
  when ((old.user_id, old.group_id, old.added_by, old.given_at) is distinct from (new.user_id, new.group_id, new.added_by, new.given_at)
    or coalesce(new.expires_at, 'infinity') < coalesce(old.expires_at, 'infinity'))
  execute function authority_changed();

-- When a past membership began, where that was after it was given.
alter table past_gift add column since timestamptz;

create or replace function group_member_ended() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, user_id, group_id, given_by, given_at, since, ended_at)
    select tenant_id, user_id, group_id, added_by, coalesce(given_at, created_at),
      case when given_at is not null then created_at end, least(clock_timestamp(), expires_at)
    from gone;
  return null;
end
$$;

-- Another mapping gives the membership from now on: that it was a gift of the former one stays known.
create function group_member_given_again() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, user_id, group_id, given_by, given_at, since)
    values (old.tenant_id, old.user_id, old.group_id, old.added_by, coalesce(old.given_at, old.created_at), old.created_at);
  return null;
end
$$;
create trigger group_member_given_again after update on group_member for each row
  when ((old.added_by, old.given_at) is distinct from (new.added_by, new.given_at))
  execute function group_member_given_again();

-- Users with memberships by claims: a work list, by when the first of them ends.
create table claimed_groups (
  tenant_id uuid not null constraint claimed_groups_tenant_id_fk references tenant (id),
  -- The user's.
  id uuid not null,
  next_look_at timestamptz not null,
  lease_until timestamptz,
  generation bigint not null default 0,
  constraint claimed_groups_pk primary key (tenant_id, id),
  constraint claimed_groups_id_fk foreign key (tenant_id, id) references tenant_user (tenant_id, id)
);
create index claimed_groups_due_ix on claimed_groups (next_look_at);
alter table claimed_groups enable row level security;
alter table claimed_groups force row level security;
create policy tenant_wall on claimed_groups
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, update, delete on claimed_groups to sallyport_app;
create policy claimed_groups_work on claimed_groups to sallyport_work using (true) with check (true);
grant select (tenant_id, id, next_look_at, lease_until, generation) on claimed_groups to sallyport_work;
grant update (lease_until, generation) on claimed_groups to sallyport_work;
