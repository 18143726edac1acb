-- Runs beside code that knows 0084.
-- Outside a transaction: each of these reads a whole table, beside those who write it.
alter table event_parked validate constraint event_parked_event_id_fk;
alter table delivery validate constraint delivery_event_id_fk;
alter table notification validate constraint notification_event_id_fk;
