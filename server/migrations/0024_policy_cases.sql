-- Questions to policy with the answers that they must get, as a tenant wrote them.
create table policy_case (
  tenant_id uuid not null constraint policy_case_tenant_id_fk references tenant (id),
  -- Its place in the list.
  ordinal integer not null,
  -- As it was sent.
  body jsonb not null,
  name text not null generated always as (body ->> 'case') stored
    constraint policy_case_name_ck check (char_length(name) between 1 and 200),
  -- A change of the rules that would break it is refused.
  required boolean not null generated always as (coalesce((body ->> 'required')::boolean, false)) stored,
  constraint policy_case_pk primary key (tenant_id, ordinal),
  constraint policy_case_name_uq unique (tenant_id, name)
);
create index policy_case_required_ix on policy_case (tenant_id) where required;
alter table policy_case enable row level security;
alter table policy_case force row level security;
create policy tenant_wall on policy_case
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on policy_case to sallyport_app;
