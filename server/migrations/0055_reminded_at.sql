-- When the requester of a request last reminded those who may decide it: they may do so once in ten minutes. The reminders that
-- come by themselves are rows of `reminder`, with a rhythm of their own.
alter table access_request add column reminded_at timestamptz;
