-- A logout token that arrives while a sign-in of the same person is under way ends that sign-in too, once it has become a session.
-- So the names in the token are kept as long as its id, from before the sessions are ended.
alter table logout_token
  -- The defaults are for processes of an older version, which name neither.
  add column provider text not null default '',
  -- SHA-256 of the provider's `sub` and `sid`, as in `user_session`.
  add column provider_sub_hash bytea constraint logout_token_provider_sub_hash_ck check (octet_length(provider_sub_hash) = 32),
  add column provider_sid_hash bytea constraint logout_token_provider_sid_hash_ck check (octet_length(provider_sid_hash) = 32),
  add column received_at timestamptz not null default clock_timestamp(),
  -- Whether it was obeyed to the end. If not, it can be sent again.
  add column obeyed boolean not null default true;
create index logout_token_provider_ix on logout_token (provider, received_at);
grant update (received_at, obeyed) on logout_token to sallyport_app;

-- Whether a sign-in was enough may change with this setting.
create trigger setting_authority after insert or update on setting for each row
  when (new.key = 'auth.second_factor_required')
  execute function authority_changed();
