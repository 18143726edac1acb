-- What a tenant trusts its sign-in provider with, and which domain is whose.
alter table sign_in_setting
  add column id uuid not null default gen_random_uuid(),
  -- Whether an address of the provider counts as verified: as its claim says, always, or never.
  add column email_trust text not null default 'claim'
    constraint sign_in_setting_email_trust_ck check (email_trust in ('claim', 'always', 'never')),
  -- The claim that identifies a person.
  add column subject_claim text not null default 'sub'
    constraint sign_in_setting_subject_claim_ck check (subject_claim in ('sub', 'oid')),
  add constraint sign_in_setting_tenant_id_id_uq unique (tenant_id, id);
grant update (email_trust, subject_claim) on sign_in_setting to sallyport_app;

-- The tenant of a sign-in by the global provider is found by a domain that the operator gave, and no longer by users: a
-- tenant's admin can create a user with anybody's address. A process of an older version that runs on fails such sign-ins.
create index tenant_mail_domain_domain_ix on tenant_mail_domain (domain);
create policy tenant_mail_domain_work on tenant_mail_domain for select to sallyport_work using (true);
grant select (tenant_id, domain) on tenant_mail_domain to sallyport_work;
drop policy tenant_user_work on tenant_user;
revoke select (tenant_id, id, issuer, subject, link_key) on tenant_user from sallyport_work;
alter table tenant_user drop column link_key;
