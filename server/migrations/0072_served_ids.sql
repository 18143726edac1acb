-- Runs beside code that knows 0070.

-- Which provisioner serves the resources of a type whose ids match a pattern, where `*` stands for any characters. Such a line comes before
-- those of accounts, and of all that match the most specific one counts. The table is a new one, so that code that knows no patterns finds
-- none of its lines, and gives nothing rather than elsewhere.
create table served_id (
  tenant_id uuid not null,
  resource_type text not null constraint served_id_resource_type_ck check (char_length(resource_type) between 1 and 100),
  id_pattern text not null constraint served_id_id_pattern_ck
    check (char_length(id_pattern) between 1 and 256 and id_pattern !~ '\*.*\*.*\*.*\*'),
  provisioner_id uuid not null,
  -- The pattern for LIKE.
  id_like text not null generated always as
    (replace(replace(replace(replace(id_pattern, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')) stored,
  -- A whole id, then the pattern that states the most characters.
  precedence integer not null generated always as
    (case when strpos(id_pattern, '*') = 0 then 1000 else char_length(replace(id_pattern, '*', '')) end) stored,
  constraint served_id_pk primary key (tenant_id, resource_type, id_pattern),
  constraint served_id_provisioner_id_fk foreign key (tenant_id, provisioner_id)
    references provisioner (tenant_id, id) on delete cascade
);
create index served_id_provisioner_id_ix on served_id (tenant_id, provisioner_id);
create index served_id_wild_ix on served_id (tenant_id, resource_type) where strpos(id_pattern, '*') > 0;
alter table served_id enable row level security;
alter table served_id force row level security;
create policy tenant_wall on served_id
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on served_id to sallyport_app;
