-- Runs beside code that knows 0089.
-- Outside a transaction: access goes on being given.

-- The grants whose ends are to be moved after the database's clock was set back, those that come first at first. No total is less than 0: the
-- condition keeps the index from statements about active grants that are found by their access.
drop index concurrently if exists access_grant_to_move_ix;
create index concurrently access_grant_to_move_ix on access_grant (clock_back_ms, expires_at) 
  where status = 'active' and clock_back_ms >= 0;
