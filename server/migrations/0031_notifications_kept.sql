-- Notifications are for people to read, not a record: the audit log is. Those older than half a year go, some with each that
-- are written.
grant delete on notification to sallyport_app;
