-- The words by which policies and API keys are found. As `role_word`. The name of a key never changes.
create table policy_word (
  tenant_id uuid not null,
  policy_id uuid not null,
  word text collate "C" not null,
  constraint policy_word_pk primary key (tenant_id, policy_id, word),
  constraint policy_word_policy_id_fk foreign key (tenant_id, policy_id)
    references policy (tenant_id, id) on delete cascade
);
create index policy_word_word_ix on policy_word (tenant_id, word, policy_id);

create table api_key_word (
  tenant_id uuid not null,
  api_key_id uuid not null,
  word text collate "C" not null,
  constraint api_key_word_pk primary key (tenant_id, api_key_id, word),
  constraint api_key_word_api_key_id_fk foreign key (tenant_id, api_key_id)
    references api_key (tenant_id, id) on delete cascade
);
create index api_key_word_word_ix on api_key_word (tenant_id, word, api_key_id);

create function policy_words() returns trigger language plpgsql as $$
begin
  insert into policy_word (tenant_id, policy_id, word)
    select tenant_id, id, unnest(search_words(name || ' ' || description)) from made;
  return null;
end
$$;
create function policy_words_change() returns trigger language plpgsql as $$
begin
  delete from policy_word where tenant_id = new.tenant_id and policy_id = new.id;
  insert into policy_word (tenant_id, policy_id, word)
    select new.tenant_id, new.id, unnest(search_words(new.name || ' ' || new.description));
  return null;
end
$$;
create trigger policy_words after insert on policy referencing new table as made
  for each statement execute function policy_words();
create trigger policy_words_change after update on policy for each row
  when ((old.name, old.description) is distinct from (new.name, new.description))
  execute function policy_words_change();

create function api_key_words() returns trigger language plpgsql as $$
begin
  insert into api_key_word (tenant_id, api_key_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$$;
create trigger api_key_words after insert on api_key referencing new table as made
  for each statement execute function api_key_words();

-- What policies are sorted by where the order is that of names.
alter table policy add column name_key text collate "C" not null generated always as (sort_key(name)) stored;

alter table policy no force row level security;
alter table api_key no force row level security;
insert into policy_word (tenant_id, policy_id, word)
  select tenant_id, id, unnest(search_words(name || ' ' || description)) from policy;
insert into api_key_word (tenant_id, api_key_id, word) select tenant_id, id, unnest(search_words(name)) from api_key;
alter table policy force row level security;
alter table api_key force row level security;

alter table policy_word enable row level security;
alter table policy_word force row level security;
create policy tenant_wall on policy_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
alter table api_key_word enable row level security;
alter table api_key_word force row level security;
create policy tenant_wall on api_key_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on policy_word to sallyport_app;
grant select, insert on api_key_word to sallyport_app;

-- Each filter of a list has an index in each order of the list.
create index policy_name_ix on policy (tenant_id, name_key, id);
create index policy_created_at_ix on policy (tenant_id, created_at, id);
create index api_key_created_at_ix on api_key (tenant_id, created_at, id);
create index api_key_identity_provider_created_at_ix on api_key (tenant_id, identity_provider_id, created_at, id);
create index api_key_unrevoked_ix on api_key (tenant_id, id) where revoked_at is null;
create index api_key_unrevoked_created_at_ix on api_key (tenant_id, created_at, id) where revoked_at is null;
create index api_key_revoked_ix on api_key (tenant_id, id) where revoked_at is not null;
create index api_key_revoked_created_at_ix on api_key (tenant_id, created_at, id) where revoked_at is not null;
