-- What a requester and those who may decide write to each other while a request waits. A comment decides nothing.
create table request_comment (
  tenant_id uuid not null constraint request_comment_tenant_id_fk references tenant (id),
  id uuid not null,
  request_id uuid not null,
  -- Its place among the comments of the request: the order in which they are listed, and a bound that no race exceeds.
  nth integer not null constraint request_comment_nth_ck check (nth between 1 and 100),
  author_id uuid not null,
  text text not null constraint request_comment_text_ck check (char_length(text) between 1 and 2000),
  created_at timestamptz not null default clock_timestamp(),
  constraint request_comment_pk primary key (tenant_id, id),
  constraint request_comment_nth_uq unique (tenant_id, request_id, nth),
  constraint request_comment_request_id_fk foreign key (tenant_id, request_id) references access_request (tenant_id, id),
  constraint request_comment_author_id_fk foreign key (tenant_id, author_id) references tenant_user (tenant_id, id)
);
create index request_comment_author_id_ix on request_comment (tenant_id, author_id);
alter table request_comment enable row level security;
alter table request_comment force row level security;
create policy tenant_wall on request_comment
  using (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid)
  with check (tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid);
grant select, insert on request_comment to sallyport_app;

-- A decision may rest on what was written: nobody rewrites it afterwards.
create function request_comment_stays() returns trigger language plpgsql as $$
begin
  raise exception 'comments are never changed or deleted' using errcode = 'restrict_violation', constraint = 'request_comment_stays';
end
$$;
create trigger request_comment_stays before update or delete or truncate on request_comment
  for each statement execute function request_comment_stays();
