-- False: who may decide a request by such groups alone is not notified of it.
alter table tenant_group add column members_notified boolean not null default true;
grant update (members_notified) on tenant_group to sallyport_app;
