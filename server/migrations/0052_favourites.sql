-- What users ask for again and again: a resource and an action each, for the catalogue to mark and to list. A favourite gives nothing:
-- whether it may be requested is evaluated whenever it is shown.
create table favourite (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  resource_type text not null,
  resource_id text not null,
  action text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint favourite_pk primary key (tenant_id, id),
  constraint favourite_pair_uq unique (tenant_id, user_id, resource_type, resource_id, action),
  constraint favourite_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint favourite_resource_id_ck check (char_length(resource_id) between 1 and 2048),
  constraint favourite_action_ck check (char_length(action) between 1 and 256)
);
create index favourite_user_id_ix on favourite (tenant_id, user_id, id);
alter table favourite enable row level security;
alter table favourite force row level security;
create policy tenant_wall on favourite
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on favourite to sallyport_app;

-- The catalogue marks what its reader holds, however many grants the reader has had.
create index access_grant_live_ix on access_grant (tenant_id, user_id, id) where status in ('pending', 'active');
