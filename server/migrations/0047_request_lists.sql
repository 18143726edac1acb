-- The words of a text, as lists search them: in lower case, without accents, at most 64 of at most 64 characters. What separates
-- words is listed, so that letters of every script count in every locale of a database.
create function search_words(text) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(word order by place), '{}')
  from (
    select left(word, 64) as word, min(place) as place
    from regexp_split_to_table(
      lower(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]', '', 'g')),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+') with ordinality as t (word, place)
    where word <> '' group by 1 order by 2 limit 64) as words
$$;

-- The words by which a request is found: those of its resource, action and reason. Read by ranges of `word`, whose collation
-- orders words with a common beginning side by side. Only the trigger below writes them, and no request is ever deleted: a foreign key
-- would look the request up again for each word.
create table request_word (
  tenant_id uuid not null,
  request_id uuid not null,
  word text collate "C" not null,
  constraint request_word_pk primary key (tenant_id, request_id, word)
);
create index request_word_word_ix on request_word (tenant_id, word, request_id);

-- By the database, so that every way to write a request keeps its words: a restore, and a process of an earlier version.
create function access_request_words() returns trigger language plpgsql as $$
begin
  insert into request_word (tenant_id, request_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action, reason))) from made;
  return null;
end
$$;
create trigger access_request_words after insert on access_request referencing new table as made
  for each statement execute function access_request_words();

alter table access_request no force row level security;
insert into request_word (tenant_id, request_id, word)
  select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action, reason))) from access_request;
alter table access_request force row level security;

alter table request_word enable row level security;
alter table request_word force row level security;
create policy tenant_wall on request_word
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on request_word to sallyport_app;

-- Each filter of the list has an index in the order of the list, which ends in the moment of the creation and the id.
create index access_request_created_at_ix on access_request (tenant_id, created_at, id);
drop index access_request_requester_id_ix;
create index access_request_requester_id_ix on access_request (tenant_id, requester_id, created_at, id);
drop index access_request_status_ix;
create index access_request_status_ix on access_request (tenant_id, status, created_at, id);
create index access_request_resource_type_ix on access_request (tenant_id, resource_type, created_at, id);
create index access_request_resource_id_ix on access_request (tenant_id, resource_id, created_at, id);
create index access_request_break_glass_ix on access_request (tenant_id, created_at, id) where break_glass;
