-- Runs beside code that knows 0084.
-- Outside a transaction: an owner that sees all rows reads whole tables here, beside those who write them. Under row-level security it sees
-- none: then this records what 0085 kept true.
alter table event_parked validate constraint event_parked_event_id_fk;
alter table delivery validate constraint delivery_event_id_fk;
alter table notification validate constraint notification_event_id_fk;
