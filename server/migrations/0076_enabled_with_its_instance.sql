-- Runs beside code that knows 0073.

-- Nothing can be given through an instance that its test has not found yet.
alter table provisioner add constraint provisioner_instance_ck
  check (not enabled or provisioner_type <> 'aws-identity-center'
    or (config ? 'instance_arn' and config ? 'identity_store_id'));
