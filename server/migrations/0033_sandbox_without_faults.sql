-- The sandbox does what it is asked: which faults it is to inject, and that an operation failed, is for tests alone.
drop table sandbox_weather;
alter table sandbox_operation drop column outcome;
