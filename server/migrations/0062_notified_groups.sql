-- Whether the members of a group are notified of requests that they may decide by it.
alter table tenant_group add column members_notified boolean not null default true;
grant update (members_notified) on tenant_group to sallyport_app;
