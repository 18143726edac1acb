-- What an action means, in the tenant's own words: shown beside the action's id. A description gives nothing and decides nothing.
create table action_description (
  tenant_id uuid not null constraint action_description_tenant_id_fk references tenant (id),
  action text not null,
  description text not null,
  updated_at timestamptz not null default clock_timestamp(),
  constraint action_description_pk primary key (tenant_id, action),
  constraint action_description_action_ck check (char_length(action) between 1 and 256),
  constraint action_description_description_ck check (char_length(description) between 1 and 200)
);
alter table action_description enable row level security;
alter table action_description force row level security;
create policy tenant_wall on action_description
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on action_description to sallyport_app;
grant update (description, updated_at) on action_description to sallyport_app;

-- The words by which a description is found: those of the action and of the description. As `role_word`.
create table action_word (
  tenant_id uuid not null,
  action text not null,
  word text collate "C" not null,
  constraint action_word_pk primary key (tenant_id, action, word),
  constraint action_word_action_fk foreign key (tenant_id, action)
    references action_description (tenant_id, action) on delete cascade
);
create index action_word_word_ix on action_word (tenant_id, word, action);
alter table action_word enable row level security;
alter table action_word force row level security;
create policy tenant_wall on action_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert, delete on action_word to sallyport_app;

create function action_description_words() returns trigger language plpgsql as $$
begin
  insert into action_word (tenant_id, action, word)
    select tenant_id, action, unnest(search_words(action || ' ' || description)) from made;
  return null;
end
$$;
create function action_description_words_change() returns trigger language plpgsql as $$
begin
  delete from action_word where tenant_id = new.tenant_id and action = new.action;
  insert into action_word (tenant_id, action, word)
    select new.tenant_id, new.action, unnest(search_words(new.action || ' ' || new.description));
  return null;
end
$$;
create trigger action_description_words after insert on action_description referencing new table as made
  for each statement execute function action_description_words();
create trigger action_description_words_change after update on action_description for each row
  when (old.description is distinct from new.description) execute function action_description_words_change();
