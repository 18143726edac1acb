alter table provisioner
  -- How the last test of it as it is now went; null: none since its config was last changed.
  add column checked_at timestamptz,
  add column checks jsonb,
  -- Until when a secret of ours that was changed counts beside the new one.
  add column previous_until timestamptz,
  add constraint provisioner_checks_ck check ((checked_at is null) = (checks is null));
grant update (checked_at, checks, previous_until) on provisioner to sallyport_app;
