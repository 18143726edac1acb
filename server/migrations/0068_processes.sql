-- Runs beside code that knows 0067.

-- The processes of the service: a row each, by which an operator recognizes what runs on a database. It belongs to no tenant.
create table process (
  -- Made anew at each start.
  id uuid constraint process_pk primary key,
  version text not null,
  commit text,
  public_url text not null,
  host text not null,
  started_at timestamptz not null default clock_timestamp(),
  -- Written again and again while the process can write: readiness depends on it.
  seen_at timestamptz not null default clock_timestamp()
);
grant select, insert, delete on process to sallyport_app;
grant update (seen_at) on process to sallyport_app;

-- `db:setup` names what it finds. Its user is a superuser, or the owner of the database.
grant select on process, migration to pg_database_owner;
