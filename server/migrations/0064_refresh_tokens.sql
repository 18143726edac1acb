-- A program that stays signed in: the session of its sign-in is given to it, as to a browser, with a refresh token in place of a cookie.
alter table user_session
  -- SHA-256 of the part that all refresh tokens of the session have in common: it tells a token that was used before from a made-up one.
  add column family_hash bytea constraint user_session_family_hash_ck check (octet_length(family_hash) = 32),
  -- SHA-256 of the secret of the refresh token that is next, and of the one before it.
  add column refresh_hash bytea constraint user_session_refresh_hash_ck check (octet_length(refresh_hash) = 32),
  add column former_refresh_hash bytea constraint user_session_former_refresh_hash_ck check (octet_length(former_refresh_hash) = 32),
  -- What the secret of the next token was derived with from the one before it.
  add column successor_salt bytea constraint user_session_successor_salt_ck check (octet_length(successor_salt) = 32),
  -- When the former token was used, and from which address or network.
  add column refreshed_at timestamptz,
  add column refreshed_from text,
  -- A session is a browser's or a program's.
  add constraint user_session_refresh_ck check (num_nulls(family_hash, refresh_hash) in (0, 2)
    and (family_hash is null or (cookie_hash is null and idle_seconds is not null))),
  add constraint user_session_refreshed_ck
    check (num_nulls(former_refresh_hash, successor_salt, refreshed_at, refreshed_from) in (0, 4)
      and (refreshed_at is null or family_hash is not null));

-- A person of the rehearsal stays signed in neither in a browser nor in a program.
drop trigger user_session_rehearsal on user_session;
create trigger user_session_rehearsal before update of cookie_hash, family_hash on user_session for each row
  when (new.cookie_hash is not null or new.family_hash is not null) execute function rehearsal_lets_nobody_in('user_id');
grant update (family_hash, refresh_hash, former_refresh_hash, successor_salt, refreshed_at, refreshed_from) on user_session
  to sallyport_app;
