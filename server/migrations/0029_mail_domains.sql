-- From which domains mail of a tenant may come. One mail server speaks for all tenants, so this is its operator's word.
create table tenant_mail_domain (
  tenant_id uuid not null constraint tenant_mail_domain_tenant_id_fk references tenant (id),
  -- As DNS has it: lower case, other scripts encoded.
  domain text not null
    constraint tenant_mail_domain_domain_ck check (length(domain) <= 253 and domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$'),
  created_at timestamptz not null default clock_timestamp(),
  constraint tenant_mail_domain_pk primary key (tenant_id, domain)
);
alter table tenant_mail_domain enable row level security;
alter table tenant_mail_domain force row level security;
create policy tenant_wall on tenant_mail_domain
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on tenant_mail_domain to sallyport_app;
