-- Processes keep for a few seconds what a credential proved. These triggers tell them, by the tenant's id alone, that it may
-- no longer be so: no statement, present or future, can forget it. Their conditions leave out what happens all the time, such
-- as a key's use or a user's profile. For each row, since a statement's transition tables tell only of one kind of event;
-- PostgreSQL sends the same notice once a transaction.
create function authority_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('sallyport_authority', coalesce(new.tenant_id, old.tenant_id)::text);
  return null;
end
$$;

create trigger tenant_user_authority after update on tenant_user for each row
  when ((old.active, old.deleted_at) is distinct from (new.active, new.deleted_at))
  execute function authority_changed();

create trigger api_key_authority after update on api_key for each row
  when ((old.revoked_at, old.expires_at, old.scopes, old.secret_hash, old.kind, old.created_by)
    is distinct from (new.revoked_at, new.expires_at, new.scopes, new.secret_hash, new.kind, new.created_by))
  execute function authority_changed();

create trigger api_key_gone after delete on api_key for each row
  execute function authority_changed();

create trigger role_authority after update on role for each row
  when (old.scopes is distinct from new.scopes)
  execute function authority_changed();

create trigger user_role_authority after insert or update or delete on user_role for each row
  execute function authority_changed();

create trigger group_member_authority after insert or update or delete on group_member for each row
  execute function authority_changed();

create trigger group_role_authority after insert or update or delete on group_role for each row
  execute function authority_changed();
