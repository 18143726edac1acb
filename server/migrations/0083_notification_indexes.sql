-- Runs beside code that knows 0082.
-- Outside a transaction: notifications go on being written.

-- The unread notifications of a user, as they are listed. Without the id, a page would read all of them to sort them.
drop index concurrently if exists notification_unread_id_ix;
create index concurrently notification_unread_id_ix on notification (tenant_id, user_id, id) where read_at is null;
drop index concurrently if exists notification_unread_ix;
