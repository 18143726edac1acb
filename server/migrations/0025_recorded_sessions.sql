-- Under which name the target's own log has what is done with an entitlement; null where it has none, or nobody knows.
alter table entitlement add column recorded_as text;
