-- What the rehearsal made: colleagues, accounts and a policy. The mark names the part; null: it is the tenant's own. Rows from before this
-- migration are the tenant's own.
alter table tenant_user add column rehearsal text;
alter table policy add column rehearsal text;
alter table cloud_account add column rehearsal text;

-- Whether the grant was approved while its tenant was in rehearsal: then it is never given at a real target.
alter table access_grant add column rehearsed boolean not null default false;

-- Each part is there once, also when two calls make it at the same moment.
create unique index tenant_user_rehearsal_uq on tenant_user (tenant_id, rehearsal)
  where rehearsal is not null and deleted_at is null;
create unique index policy_rehearsal_uq on policy (tenant_id, rehearsal) where rehearsal is not null;
create unique index cloud_account_rehearsal_uq on cloud_account (tenant_id, rehearsal) where rehearsal is not null;

-- Going live removes the accounts of the rehearsal.
grant delete on cloud_account to sallyport_app;

-- A person of the rehearsal never becomes a real one: no owner, nobody's mailbox, no provider, and no way to sign in.
alter table tenant_user add constraint tenant_user_rehearsal_ck check (
  rehearsal is null or (not is_owner and auth_provider = 'local' and email_key like '%.invalid'));

create function rehearsal_mark_stays() returns trigger language plpgsql as $$
begin
  raise exception 'whether the rehearsal made a user never changes'
    using errcode = 'restrict_violation', constraint = 'tenant_user_rehearsal_stays';
end
$$;
create trigger tenant_user_rehearsal_stays before update of rehearsal on tenant_user for each row
  when (old.rehearsal is distinct from new.rehearsal) execute function rehearsal_mark_stays();

create function rehearsal_lets_nobody_in() returns trigger language plpgsql as $$
begin
  if exists (select from tenant_user u where u.tenant_id = new.tenant_id
      and u.id = (to_jsonb(new) ->> tg_argv[0])::uuid and u.rehearsal is not null) then
    raise exception 'a person of the rehearsal has no way to sign in'
      using errcode = 'restrict_violation', constraint = 'rehearsal_lets_nobody_in';
  end if;
  return new;
end
$$;
create trigger user_password_rehearsal before insert on user_password for each row
  execute function rehearsal_lets_nobody_in('user_id');
create trigger second_factor_rehearsal before insert on second_factor for each row
  execute function rehearsal_lets_nobody_in('user_id');
create trigger api_key_rehearsal before insert on api_key for each row
  execute function rehearsal_lets_nobody_in('created_by');
create trigger user_session_rehearsal before update of cookie_hash on user_session for each row
  when (new.cookie_hash is not null) execute function rehearsal_lets_nobody_in('user_id');

-- A live tenant has nothing of its rehearsal left, whichever process had it go live. Checked when the transaction commits.
create function live_without_rehearsal() returns trigger language plpgsql as $$
begin
  if exists (select from tenant_user u
        where u.tenant_id = new.id and u.rehearsal is not null and u.deleted_at is null)
      or exists (select from policy p where p.tenant_id = new.id and p.rehearsal is not null)
      or exists (select from cloud_account c where c.tenant_id = new.id and c.rehearsal is not null) then
    raise exception 'a tenant goes live without its rehearsal'
      using errcode = 'restrict_violation', constraint = 'live_without_rehearsal';
  end if;
  return null;
end
$$;
create constraint trigger live_without_rehearsal after update on tenant deferrable initially deferred for each row
  when (old.mode <> 'live' and new.mode = 'live') execute function live_without_rehearsal();
