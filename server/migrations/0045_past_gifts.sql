-- What gave rights and has ended: a role of a user (user_id, role_id), a membership (user_id, group_id), a role of a group (group_id,
-- role_id), a scope that was added to a role (role_id). Who gave it stays known, so that no requester hides by whom they made an approver.
-- By triggers, since the rows also go with their group or role; the ids of those two may name nothing any more.
create table past_gift (
  tenant_id uuid not null,
  id uuid not null default gen_random_uuid(),
  user_id uuid,
  group_id uuid,
  role_id text,
  given_by uuid,
  given_at timestamptz not null,
  ended_at timestamptz not null default clock_timestamp(),
  constraint past_gift_pk primary key (tenant_id, id),
  constraint past_gift_tenant_id_fk foreign key (tenant_id) references tenant (id),
  constraint past_gift_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint past_gift_given_by_fk foreign key (tenant_id, given_by) references tenant_user (tenant_id, id)
);
create index past_gift_given_by_ix on past_gift (tenant_id, given_by, given_at);
create index past_gift_user_id_ix on past_gift (tenant_id, user_id);
create index past_gift_group_id_ix on past_gift (tenant_id, group_id);
create index past_gift_role_id_ix on past_gift (tenant_id, role_id);
alter table past_gift enable row level security;
alter table past_gift force row level security;
create policy tenant_wall on past_gift
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on past_gift to sallyport_app;

create function user_role_ended() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, user_id, role_id, given_by, given_at)
    select tenant_id, user_id, role_id, granted_by, granted_at from gone;
  return null;
end
$$;
create trigger user_role_ended after delete on user_role referencing old table as gone
  for each statement execute function user_role_ended();

create function group_member_ended() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, user_id, group_id, given_by, given_at)
    select tenant_id, user_id, group_id, added_by, created_at from gone;
  return null;
end
$$;
create trigger group_member_ended after delete on group_member referencing old table as gone
  for each statement execute function group_member_ended();

create function group_role_ended() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, group_id, role_id, given_by, given_at)
    select tenant_id, group_id, role_id, mapped_by, mapped_at from gone;
  return null;
end
$$;
create trigger group_role_ended after delete on group_role referencing old table as gone
  for each statement execute function group_role_ended();

create function role_added_scope_ended() returns trigger language plpgsql as $$
begin
  insert into past_gift (tenant_id, role_id, given_by, given_at)
    select tenant_id, role_id, added_by, added_at from gone;
  return null;
end
$$;
create trigger role_added_scope_ended after delete on role_added_scope referencing old table as gone
  for each statement execute function role_added_scope_ended();
create trigger role_added_scope_replaced after update on role_added_scope referencing old table as gone
  for each statement execute function role_added_scope_ended();
