-- A text as lists sort it: in lower case and without accents, as its words are searched. At most 200 characters, so that each
-- fits into an index, whatever its characters are made of.
create function sort_key(text) returns text language sql immutable parallel safe as $$
  select left(lower(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]', '', 'g')), 200)
$$;

-- What lists of users sort by: null of users who are deleted, who are in no list. Without statistics PostgreSQL expects few rows to be
-- null, but would expect few that a condition on `deleted_at` leaves, and choose any index.
alter table tenant_user
  add column listed_at timestamptz generated always as (case when deleted_at is null then created_at end) stored,
  add column name_key text collate "C" generated always as (case when deleted_at is null then sort_key(name) end) stored;
alter table tenant_group add column name_key text collate "C" not null generated always as (sort_key(name)) stored;

-- The words by which users, groups, roles and cloud accounts are found. Kept by the database, so that every way to write a record
-- keeps its words: a restore, and a process of an earlier version. A user who is deleted is not found.
create table user_word (
  tenant_id uuid not null,
  user_id uuid not null,
  word text collate "C" not null,
  constraint user_word_pk primary key (tenant_id, user_id, word),
  constraint user_word_user_id_fk foreign key (tenant_id, user_id) references tenant_user (tenant_id, id) on delete cascade
);
create index user_word_word_ix on user_word (tenant_id, word, user_id);

create table group_word (
  tenant_id uuid not null,
  group_id uuid not null,
  word text collate "C" not null,
  constraint group_word_pk primary key (tenant_id, group_id, word),
  constraint group_word_group_id_fk foreign key (tenant_id, group_id)
    references tenant_group (tenant_id, id) on delete cascade
);
create index group_word_word_ix on group_word (tenant_id, word, group_id);

create table role_word (
  tenant_id uuid not null,
  role_id text not null,
  word text collate "C" not null,
  constraint role_word_pk primary key (tenant_id, role_id, word),
  constraint role_word_role_id_fk foreign key (tenant_id, role_id) references role (tenant_id, id) on delete cascade
);
create index role_word_word_ix on role_word (tenant_id, word, role_id);

create table cloud_account_word (
  tenant_id uuid not null,
  entry_id text not null,
  word text collate "C" not null,
  constraint cloud_account_word_pk primary key (tenant_id, entry_id, word),
  constraint cloud_account_word_entry_id_fk foreign key (tenant_id, entry_id)
    references cloud_account (tenant_id, id) on delete cascade
);
create index cloud_account_word_word_ix on cloud_account_word (tenant_id, word, entry_id);

create function tenant_user_words() returns trigger language plpgsql as $$
begin
  insert into user_word (tenant_id, user_id, word)
    select tenant_id, id, unnest(search_words(name || ' ' || email)) from made where deleted_at is null;
  return null;
end
$$;
create function tenant_user_words_change() returns trigger language plpgsql as $$
begin
  delete from user_word where tenant_id = new.tenant_id and user_id = new.id;
  insert into user_word (tenant_id, user_id, word)
    select new.tenant_id, new.id, unnest(search_words(new.name || ' ' || new.email)) where new.deleted_at is null;
  return null;
end
$$;
create trigger tenant_user_words after insert on tenant_user referencing new table as made
  for each statement execute function tenant_user_words();
create trigger tenant_user_words_change after update on tenant_user for each row
  when ((old.name, old.email, old.deleted_at) is distinct from (new.name, new.email, new.deleted_at))
  execute function tenant_user_words_change();

create function tenant_group_words() returns trigger language plpgsql as $$
begin
  insert into group_word (tenant_id, group_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$$;
create function tenant_group_words_change() returns trigger language plpgsql as $$
begin
  delete from group_word where tenant_id = new.tenant_id and group_id = new.id;
  insert into group_word (tenant_id, group_id, word) select new.tenant_id, new.id, unnest(search_words(new.name));
  return null;
end
$$;
create trigger tenant_group_words after insert on tenant_group referencing new table as made
  for each statement execute function tenant_group_words();
create trigger tenant_group_words_change after update on tenant_group for each row
  when (old.name is distinct from new.name) execute function tenant_group_words_change();

create function role_words() returns trigger language plpgsql as $$
begin
  insert into role_word (tenant_id, role_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$$;
create function role_words_change() returns trigger language plpgsql as $$
begin
  delete from role_word where tenant_id = new.tenant_id and role_id = new.id;
  insert into role_word (tenant_id, role_id, word) select new.tenant_id, new.id, unnest(search_words(new.name));
  return null;
end
$$;
create trigger role_words after insert on role referencing new table as made
  for each statement execute function role_words();
create trigger role_words_change after update on role for each row
  when (old.name is distinct from new.name) execute function role_words_change();

create function cloud_account_words() returns trigger language plpgsql as $$
begin
  insert into cloud_account_word (tenant_id, entry_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', name, account_id, id))) from made;
  return null;
end
$$;
create function cloud_account_words_change() returns trigger language plpgsql as $$
begin
  delete from cloud_account_word where tenant_id = new.tenant_id and entry_id = new.id;
  insert into cloud_account_word (tenant_id, entry_id, word)
    select new.tenant_id, new.id, unnest(search_words(concat_ws(' ', new.name, new.account_id, new.id)));
  return null;
end
$$;
create trigger cloud_account_words after insert on cloud_account referencing new table as made
  for each statement execute function cloud_account_words();
create trigger cloud_account_words_change after update on cloud_account for each row
  when ((old.name, old.account_id) is distinct from (new.name, new.account_id))
  execute function cloud_account_words_change();

alter table tenant_user no force row level security;
alter table tenant_group no force row level security;
alter table role no force row level security;
alter table cloud_account no force row level security;
insert into user_word (tenant_id, user_id, word)
  select tenant_id, id, unnest(search_words(name || ' ' || email)) from tenant_user where deleted_at is null;
insert into group_word (tenant_id, group_id, word) select tenant_id, id, unnest(search_words(name)) from tenant_group;
insert into role_word (tenant_id, role_id, word) select tenant_id, id, unnest(search_words(name)) from role;
insert into cloud_account_word (tenant_id, entry_id, word)
  select tenant_id, id, unnest(search_words(concat_ws(' ', name, account_id, id))) from cloud_account;
alter table tenant_user force row level security;
alter table tenant_group force row level security;
alter table role force row level security;
alter table cloud_account force row level security;

alter table user_word enable row level security;
alter table user_word force row level security;
create policy tenant_wall on user_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
alter table group_word enable row level security;
alter table group_word force row level security;
create policy tenant_wall on group_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
alter table role_word enable row level security;
alter table role_word force row level security;
create policy tenant_wall on role_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
alter table cloud_account_word enable row level security;
alter table cloud_account_word force row level security;
create policy tenant_wall on cloud_account_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on user_word, group_word, role_word, cloud_account_word to sallyport_app;

-- Each filter of a list has an index in each order of the list.
create index tenant_user_listed_at_ix on tenant_user (tenant_id, listed_at, id);
create index tenant_user_name_ix on tenant_user (tenant_id, name_key, id);
create index tenant_user_active_ix on tenant_user (tenant_id, active, listed_at, id);
create index tenant_user_active_name_ix on tenant_user (tenant_id, active, name_key, id);
create index tenant_user_auth_provider_ix on tenant_user (tenant_id, auth_provider, listed_at, id);
create index tenant_user_auth_provider_name_ix on tenant_user (tenant_id, auth_provider, name_key, id);
create index tenant_user_suspended_ix on tenant_user (tenant_id, listed_at, id) where suspended_until is not null;
create index tenant_user_suspended_name_ix on tenant_user (tenant_id, name_key, id) where suspended_until is not null;
create index tenant_group_created_at_ix on tenant_group (tenant_id, created_at, id);
create index tenant_group_name_ix on tenant_group (tenant_id, name_key, id);
create index tenant_group_source_created_at_ix on tenant_group (tenant_id, source, created_at, id);
create index tenant_group_source_name_ix on tenant_group (tenant_id, source, name_key, id);

-- The holders of a role and the groups of a user, in order.
drop index user_role_role_id_ix;
create index user_role_role_id_ix on user_role (tenant_id, role_id, user_id);
drop index group_role_role_id_ix;
create index group_role_role_id_ix on group_role (tenant_id, role_id, group_id);
drop index group_member_user_id_ix;
create index group_member_user_id_ix on group_member (tenant_id, user_id, group_id);

-- Where in the audit log a range of time begins and ends.
create index event_at_ix on event (tenant_id, at, seq);
