-- A database that ran 0026 as it was first written has this column still.
alter table delivery_lane drop column if exists arrivals;
