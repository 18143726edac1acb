-- Runs beside code that knows 0069.
-- A start says how many tenants are in rehearsal, whose access is simulated, and how many are live.
grant select (mode) on tenant to sallyport_work;
