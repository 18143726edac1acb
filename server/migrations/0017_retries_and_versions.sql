-- A call that is sent again is carried out once, and nobody overwrites what they have not seen.

-- What a call with an Idempotency-Key was answered, written in the transaction of what it did.
create table kept_answer (
  tenant_id uuid not null constraint kept_answer_tenant_id_fk references tenant (id),
  -- SHA-256 of the credential, the operation, its path's ids and the key.
  id bytea not null constraint kept_answer_id_ck check (octet_length(id) = 32),
  -- The answer and a digest of what was asked, both under the tenant's key: there may be secrets in either.
  sealed_answer text not null,
  expires_at timestamptz not null,
  constraint kept_answer_pk primary key (tenant_id, id)
);
create index kept_answer_expired_ix on kept_answer (tenant_id, expires_at);
alter table kept_answer enable row level security;
alter table kept_answer force row level security;
create policy tenant_wall on kept_answer
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on kept_answer to sallyport_app;
grant update (sealed_answer, expires_at) on kept_answer to sallyport_app;

-- Goes up with each change: what a caller has read, and names by If-Match.
alter table role add column version integer not null default 1;
grant update (version) on role to sallyport_app;
