-- Runs beside code that knows 0081.
-- A run that such code began has no names in its rows: nobody is found by them.

-- Who a person that a run read would be here.
alter table sync_person
  -- The name as users of directories are compared.
  add column user_name_key text collate "C",
  -- The user here who has the address or the name, where a person has to settle it.
  add column holder_id uuid;

-- Another person with the same address is another conflict, in the place of the one before.
grant update (id, created_at) on directory_conflict to sallyport_app;
