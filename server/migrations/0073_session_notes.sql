-- Runs beside code that knows 0070.

-- Why sessions outlive the end of the access, when the target said so with the revoke.
alter table entitlement add column session_note text;
