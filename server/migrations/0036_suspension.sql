-- Until this moment the user counts as not active, whatever `active` says; then the suspension ends by itself. Null: there was
-- none, or it was ended early.
alter table tenant_user add column suspended_until timestamptz;

-- A suspension that begins or is ended early changes what a credential proves. One that ends by itself only gives rights back, and
-- what was refused is not kept.
drop trigger tenant_user_authority on tenant_user;
create trigger tenant_user_authority after update on tenant_user for each row
  when ((old.active, old.deleted_at, old.suspended_until) is distinct from (new.active, new.deleted_at, new.suspended_until))
  execute function authority_changed();
