-- The access that a receiver gives belongs to one user: the key of it names the user too, so that a receiver which names the same
-- entitlement for two users has two. The key is a JSON list, and the user's id becomes its last element.
alter table entitlement no force row level security;
alter table access_grant no force row level security;
alter table tenant_user no force row level security;
alter table webhook_act no force row level security;

create table key_change as
  select tenant_id, id, provisioner_id, target_key as key_before, target #>> '{user,id}' as user_id,
    left(target_key, -1) || ',' || (target #> '{user,id}')::text || ']' as key_after
  from entitlement where provisioner = 'webhook';

update webhook_act a set target_key = c.key_after
  from key_change c
  where a.tenant_id = c.tenant_id and a.provisioner_id = c.provisioner_id and a.target_key = c.key_before;
update entitlement e set target_key = c.key_after, target = jsonb_set(e.target, '{key}', to_jsonb(c.key_after))
  from key_change c where e.tenant_id = c.tenant_id and e.id = c.id;

-- Grants of further users that one entitlement stood for, and whose access may exist: each user gets an entitlement of their own.
-- The receiver was never asked about it, so it is asked at once.
create table parted as
  select c.tenant_id, c.id, g.user_id, gen_random_uuid() as new_id, left(c.key_before, -1) || ',"' || g.user_id || '"]' as key
  from key_change c join access_grant g on g.tenant_id = c.tenant_id and g.entitlement_id = c.id
  where g.user_id::text <> c.user_id and (g.status in ('pending', 'active')
    or g.provisioning_status in ('deprovisioning', 'deprovisioning_failed'))
  group by c.tenant_id, c.id, c.key_before, g.user_id;
insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, session_seconds, held_before, observed,
    next_look_at, gives)
  select e.tenant_id, p.new_id, e.provisioner, e.provisioner_id, p.key,
    e.target || jsonb_build_object('key', p.key, 'user',
      jsonb_build_object('id', u.id, 'email', u.email, 'name', u.name, 'external_id', u.subject)),
    e.session_seconds, e.held_before, 'unknown', clock_timestamp(), true
  from parted p join entitlement e on e.tenant_id = p.tenant_id and e.id = p.id
    join tenant_user u on u.tenant_id = p.tenant_id and u.id = p.user_id;
update access_grant g set entitlement_id = p.new_id
  from parted p where g.tenant_id = p.tenant_id and g.entitlement_id = p.id and g.user_id = p.user_id;
-- The user who is left may be somebody whose access nobody wants any more.
update entitlement e set next_look_at = clock_timestamp()
  from parted p where e.tenant_id = p.tenant_id and e.id = p.id;

drop table parted;
drop table key_change;
alter table webhook_act force row level security;
alter table tenant_user force row level security;
alter table access_grant force row level security;
alter table entitlement force row level security;
