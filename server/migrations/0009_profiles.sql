-- What people say of themselves, how they like to see dates, and how they leave.
alter table tenant_user
  add column first_name text constraint tenant_user_first_name_ck check (char_length(first_name) between 1 and 100),
  add column last_name text constraint tenant_user_last_name_ck check (char_length(last_name) between 1 and 100),
  add column display_name text constraint tenant_user_display_name_ck check (char_length(display_name) between 1 and 100),
  -- Null: the tenant's.
  add column locale text constraint tenant_user_locale_ck check (char_length(locale) between 1 and 100),
  -- Null: what the client itself detects.
  add column timezone text constraint tenant_user_timezone_ck check (char_length(timezone) between 1 and 100),
  -- Null: as the locale has it.
  add column date_format text
    constraint tenant_user_date_format_ck check (date_format in ('YYYY-MM-DD', 'MM/DD/YYYY', 'DD/MM/YYYY')),
  add column time_format text constraint tenant_user_time_format_ck check (time_format in ('12h', '24h')),
  -- The row of a deleted user stays, since requests, grants and the audit log name its id; it means nobody any more.
  add column deleted_at timestamptz,
  add constraint tenant_user_deleted_ck check (deleted_at is null or not active and not is_owner);

-- The address of a deleted user is free for another. A partial index has one more merit: no foreign key could name its
-- columns, so that deleting waits for nobody who at that moment refers to the user.
alter table tenant_user drop constraint tenant_user_email_key_uq;
create unique index tenant_user_email_key_uq on tenant_user (tenant_id, email_key) where deleted_at is null;

create function deleted_user_stays() returns trigger language plpgsql as $$
begin
  raise exception 'a deleted user never changes again' using errcode = 'restrict_violation', constraint = 'tenant_user_deleted';
end
$$;
create trigger tenant_user_deleted before update on tenant_user
  for each row when (old.deleted_at is not null) execute function deleted_user_stays();

-- A deleted user keeps no password.
grant delete on user_password to sallyport_app;
