-- What rules may know of a person beside their name and address: department, title and manager. Null: not known.
--
-- Whoever writes one of them writes `facts_set_by` in the same statement. Null: the directory of the user, or the operator, whose word
-- always counts. `facts_set_at` is written by a trigger.
--
-- No older code may run beside this: it would evaluate rules that read facts as if nobody had any.
alter table tenant_user
  add column department text,
  add column title text,
  add column manager_id uuid,
  add column facts_set_by uuid,
  add column facts_set_at timestamptz;

-- One line, as a name is, without marks that change the text direction and characters without width.
alter table tenant_user
  add constraint tenant_user_department_ck check (char_length(department) between 1 and 200
    and department !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]'),
  add constraint tenant_user_title_ck check (char_length(title) between 1 and 200
    and title !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]'),
  add constraint tenant_user_manager_id_ck check (manager_id <> id),
  -- Deferrable: a restore writes people before their managers. Rows of users go only with their tenant.
  add constraint tenant_user_manager_id_fk foreign key (tenant_id, manager_id)
    references tenant_user (tenant_id, id) on delete set null (manager_id) deferrable,
  add constraint tenant_user_facts_set_by_fk foreign key (tenant_id, facts_set_by)
    references tenant_user (tenant_id, id) on delete set null (facts_set_by) deferrable;

-- What a person, and not the user's directory, has said about a user: each value that a fact has had since, the latest with the highest
-- number, and before them, as number 0, the value that counted then. What a requester wrote does not count for their request, and the value
-- from before does. No row: the value in tenant_user counts.
create table user_fact_version (
  tenant_id uuid not null constraint user_fact_version_tenant_id_fk references tenant (id),
  user_id uuid not null,
  fact text not null constraint user_fact_version_fact_ck check (fact in ('department', 'title', 'manager')),
  number integer not null,
  -- Of a manager the id. Null: not known.
  value text,
  set_by uuid,
  set_at timestamptz not null,
  constraint user_fact_version_pk primary key (tenant_id, user_id, fact, number),
  constraint user_fact_version_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id),
  constraint user_fact_version_set_by_fk foreign key (tenant_id, set_by) references tenant_user (tenant_id, id)
);
create index user_fact_version_set_by_ix on user_fact_version (tenant_id, set_by);
alter table user_fact_version enable row level security;
alter table user_fact_version force row level security;
create policy tenant_wall on user_fact_version
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on user_fact_version to sallyport_app;

-- The row of the user is locked, so that numbers follow each other.
create function tenant_user_facts() returns trigger language plpgsql as $$
declare
  changed record;
begin
  new.facts_set_at := clock_timestamp();
  for changed in
    select one.fact, one.before, one.after
    from (values ('department', old.department, new.department), ('title', old.title, new.title),
      ('manager', old.manager_id::text, new.manager_id::text)) as one (fact, before, after)
    where one.before is distinct from one.after
  loop
    if new.facts_set_by is null then
      -- The word of the directory counts for every request, whatever was said before.
      delete from user_fact_version v
        where v.tenant_id = new.tenant_id and v.user_id = new.id and v.fact = changed.fact;
      continue;
    end if;
    insert into user_fact_version (tenant_id, user_id, fact, number, value, set_by, set_at)
      values (new.tenant_id, new.id, changed.fact, 0, changed.before, null, '-infinity')
      on conflict do nothing;
    insert into user_fact_version (tenant_id, user_id, fact, number, value, set_by, set_at)
      select new.tenant_id, new.id, changed.fact, max(v.number) + 1, changed.after, new.facts_set_by, new.facts_set_at
      from user_fact_version v where v.tenant_id = new.tenant_id and v.user_id = new.id and v.fact = changed.fact;
  end loop;
  return new;
end
$$;
-- A foreign key that forgets a manager, while a tenant is deleted, says nothing about anybody.
create trigger tenant_user_facts before update on tenant_user for each row
  when (pg_trigger_depth() = 0
    and (old.department, old.title, old.manager_id) is distinct from (new.department, new.title, new.manager_id))
  execute function tenant_user_facts();
