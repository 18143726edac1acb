-- The database after every migration, read back from the catalogue of PostgreSQL: to be reviewed as a difference, not to
-- be run. The migrations are what runs. Made by `npm run generate`.
--
-- Everything belongs to sallyport_owner. Requests are served as sallyport_app, work is found as sallyport_work;
-- neither owns anything. A primary key's or unique constraint's index, and "not null", stand with the table.

create table access_grant (
  tenant_id uuid not null,
  id uuid not null,
  request_id uuid not null,
  user_id uuid not null,
  name text not null,
  resource_type text not null,
  resource_id text not null,
  account_id text,
  permission_set text,
  action text not null,
  duration_seconds integer not null,
  status text not null,
  provisioning_status text not null,
  entitlement_id uuid,
  activated_at timestamp with time zone,
  expires_at timestamp with time zone,
  expiring_at timestamp with time zone,
  activate_by timestamp with time zone not null,
  ended_at timestamp with time zone,
  ended_by uuid,
  end_reason text,
  failures integer not null default 0,
  last_error text,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  step_since timestamp with time zone default clock_timestamp(),
  target_reference text,
  alarmed_at timestamp with time zone,
  served_by text,
  drifted boolean not null default false,
  starts_at timestamp with time zone,
  held_since timestamp with time zone,
  by_person boolean not null default false,
  rehearsed boolean not null default false,
  clock_back_ms bigint not null default clock_back_ms(),
  constraint access_grant_pk PRIMARY KEY (tenant_id, id),
  constraint access_grant_place_uq UNIQUE (tenant_id, request_id, resource_type, resource_id),
  constraint access_grant_ended_by_fk FOREIGN KEY (tenant_id, ended_by) REFERENCES tenant_user(tenant_id, id),
  constraint access_grant_entitlement_id_fk FOREIGN KEY (tenant_id, entitlement_id) REFERENCES entitlement(tenant_id, id),
  constraint access_grant_request_id_fk FOREIGN KEY (tenant_id, request_id) REFERENCES access_request(tenant_id, id),
  constraint access_grant_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint access_grant_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint access_grant_active_ck CHECK ((activated_at IS NULL) = (expires_at IS NULL) AND (status <> 'active'::text OR activated_at IS NOT NULL)),
  constraint access_grant_duration_seconds_ck CHECK (duration_seconds >= 60 AND duration_seconds <= 1209600),
  constraint access_grant_ended_ck CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text])) = (ended_at IS NULL)),
  constraint access_grant_provisioning_status_ck CHECK (provisioning_status = ANY (ARRAY['not_attempted'::text, 'attempting'::text, 'successful'::text, 'failed'::text, 'deprovisioning'::text, 'deprovisioned'::text, 'deprovisioning_failed'::text])),
  constraint access_grant_status_ck CHECK (status = ANY (ARRAY['pending'::text, 'active'::text, 'expired'::text, 'revoked'::text, 'failed'::text]))
);
CREATE INDEX access_grant_action_ix ON access_grant USING btree (tenant_id, action, created_at, id);
CREATE INDEX access_grant_created_at_ix ON access_grant USING btree (tenant_id, created_at, id);
CREATE INDEX access_grant_drifted_ix ON access_grant USING btree (tenant_id, created_at, id) WHERE drifted AND ended_at IS NULL;
CREATE INDEX access_grant_due_ix ON access_grant USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX access_grant_ended_by_ix ON access_grant USING btree (tenant_id, ended_by) WHERE ended_by IS NOT NULL;
CREATE INDEX access_grant_entitlement_id_ix ON access_grant USING btree (tenant_id, entitlement_id);
CREATE INDEX access_grant_expires_at_ix ON access_grant USING btree (tenant_id, expires_at, id) WHERE ended_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX access_grant_live_ix ON access_grant USING btree (tenant_id, user_id, id) WHERE status = ANY (ARRAY['pending'::text, 'active'::text]);
CREATE INDEX access_grant_provisioning_status_ix ON access_grant USING btree (tenant_id, provisioning_status COLLATE "C", created_at, id);
CREATE INDEX access_grant_resource_id_ix ON access_grant USING btree (tenant_id, resource_id, created_at, id);
CREATE INDEX access_grant_resource_type_ix ON access_grant USING btree (tenant_id, resource_type, created_at, id);
CREATE INDEX access_grant_served_by_ix ON access_grant USING btree (tenant_id, served_by, created_at, id) WHERE served_by IS NOT NULL;
CREATE INDEX access_grant_status_ix ON access_grant USING btree (tenant_id, status COLLATE "C", created_at, id);
CREATE INDEX access_grant_to_move_ix ON access_grant USING btree (clock_back_ms, expires_at) WHERE status = 'active'::text AND clock_back_ms >= 0;
CREATE INDEX access_grant_user_expires_at_ix ON access_grant USING btree (tenant_id, user_id, expires_at, id) WHERE ended_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX access_grant_user_id_ix ON access_grant USING btree (tenant_id, user_id, created_at, id);
alter table access_grant enable row level security;
alter table access_grant force row level security;
create policy access_grant_work on access_grant to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on access_grant
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on access_grant to sallyport_app;
grant select (tenant_id, id, status, provisioning_status, entitlement_id, expires_at, ended_at, next_look_at, lease_until, generation, clock_back_ms) on access_grant to sallyport_work;
grant update (next_look_at, lease_until, generation) on access_grant to sallyport_work;
CREATE TRIGGER access_grant_served BEFORE UPDATE OF entitlement_id ON access_grant FOR EACH ROW WHEN (old.entitlement_id IS DISTINCT FROM new.entitlement_id) EXECUTE FUNCTION access_grant_served();
CREATE TRIGGER access_grant_served_at_once BEFORE INSERT ON access_grant FOR EACH ROW WHEN (new.entitlement_id IS NOT NULL AND new.served_by IS NULL) EXECUTE FUNCTION access_grant_served();
CREATE TRIGGER access_grant_step BEFORE UPDATE ON access_grant FOR EACH ROW WHEN (old.status <> new.status OR old.provisioning_status <> new.provisioning_status OR (old.entitlement_id IS NULL) <> (new.entitlement_id IS NULL)) EXECUTE FUNCTION access_grant_steps();
CREATE TRIGGER access_grant_transition BEFORE UPDATE OF status, provisioning_status ON access_grant FOR EACH ROW WHEN ((old.status <> new.status OR old.provisioning_status <> new.provisioning_status) AND (((((((old.status || '/'::text) || old.provisioning_status) || ' '::text) || new.status) || '/'::text) || new.provisioning_status) <> ALL (ARRAY['active/not_attempted expired/not_attempted'::text, 'active/not_attempted revoked/not_attempted'::text, 'active/successful expired/deprovisioning'::text, 'active/successful revoked/deprovisioning'::text, 'expired/deprovisioning expired/deprovisioned'::text, 'expired/deprovisioning expired/deprovisioning_failed'::text, 'expired/deprovisioning_failed expired/deprovisioned'::text, 'expired/deprovisioning_failed expired/deprovisioning_failed'::text, 'failed/deprovisioned pending/not_attempted'::text, 'failed/deprovisioning_failed failed/deprovisioned'::text, 'failed/deprovisioning_failed failed/deprovisioning_failed'::text, 'failed/deprovisioning_failed pending/not_attempted'::text, 'failed/failed failed/deprovisioning_failed'::text, 'failed/failed pending/not_attempted'::text, 'pending/attempting active/not_attempted'::text, 'pending/attempting active/successful'::text, 'pending/attempting failed/failed'::text, 'pending/attempting pending/attempting'::text, 'pending/attempting revoked/deprovisioning'::text, 'pending/not_attempted active/not_attempted'::text, 'pending/not_attempted active/successful'::text, 'pending/not_attempted failed/failed'::text, 'pending/not_attempted pending/attempting'::text, 'pending/not_attempted revoked/not_attempted'::text, 'revoked/deprovisioning revoked/deprovisioned'::text, 'revoked/deprovisioning revoked/deprovisioning_failed'::text, 'revoked/deprovisioning_failed revoked/deprovisioned'::text, 'revoked/deprovisioning_failed revoked/deprovisioning_failed'::text]))) EXECUTE FUNCTION access_grant_unforeseen();
CREATE TRIGGER access_grant_words AFTER INSERT ON access_grant REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION access_grant_words();

create table access_request (
  tenant_id uuid not null,
  id uuid not null,
  requester_id uuid not null,
  resource_type text not null,
  resource_id text not null,
  action text not null,
  reason text,
  status text not null,
  decision_reasoning text,
  decided_by uuid,
  approval_mode text not null,
  break_glass boolean not null,
  duration_seconds integer not null,
  metadata jsonb not null,
  audit_session boolean not null,
  places jsonb not null,
  asked_via text not null,
  source_ip text not null,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  risk text not null default 'normal'::text,
  risk_reasons text[] not null default '{}'::text[],
  approved_duration_seconds integer,
  extends uuid,
  held_seconds integer,
  reminded_at timestamp with time zone,
  constraint access_request_pk PRIMARY KEY (tenant_id, id),
  constraint access_request_decided_by_fk FOREIGN KEY (tenant_id, decided_by) REFERENCES tenant_user(tenant_id, id),
  constraint access_request_requester_id_fk FOREIGN KEY (tenant_id, requester_id) REFERENCES tenant_user(tenant_id, id),
  constraint access_request_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint access_request_approval_mode_ck CHECK (approval_mode = ANY (ARRAY['require'::text, 'auto'::text, 'break_glass'::text])),
  constraint access_request_approved_duration_ck CHECK (approved_duration_seconds IS NULL OR approved_duration_seconds >= 60 AND approved_duration_seconds <= (duration_seconds - 1) AND status = 'approved'::text AND decided_by IS NOT NULL),
  constraint access_request_asked_via_ck CHECK (asked_via = ANY (ARRAY['token'::text, 'api_key'::text])),
  constraint access_request_decided_by_ck CHECK (decided_by <> requester_id),
  constraint access_request_duration_seconds_ck CHECK (duration_seconds >= 60 AND duration_seconds <= 1209600),
  constraint access_request_extends_ck CHECK ((extends IS NULL) = (held_seconds IS NULL) AND held_seconds >= 0),
  constraint access_request_pending_ck CHECK ((status = 'pending'::text) = (next_look_at IS NOT NULL)),
  constraint access_request_risk_ck CHECK ((risk = ANY (ARRAY['high'::text, 'normal'::text])) AND (risk = 'high'::text) = (cardinality(risk_reasons) > 0)),
  constraint access_request_status_ck CHECK (status = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'expired'::text, 'cancelled'::text]))
);
CREATE INDEX access_request_break_glass_ix ON access_request USING btree (tenant_id, created_at, id) WHERE break_glass;
CREATE INDEX access_request_created_at_ix ON access_request USING btree (tenant_id, created_at, id);
CREATE INDEX access_request_decided_by_ix ON access_request USING btree (tenant_id, decided_by, created_at, id) WHERE decided_by IS NOT NULL;
CREATE INDEX access_request_due_ix ON access_request USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE UNIQUE INDEX access_request_extending_uq ON access_request USING btree (tenant_id, extends) WHERE extends IS NOT NULL AND status = 'pending'::text;
CREATE INDEX access_request_extends_ix ON access_request USING btree (tenant_id, extends) WHERE extends IS NOT NULL;
CREATE INDEX access_request_inbox_ix ON access_request USING btree (tenant_id, risk, created_at, id) WHERE status = 'pending'::text;
CREATE INDEX access_request_pending_ix ON access_request USING btree (tenant_id, requester_id) WHERE status = 'pending'::text;
CREATE INDEX access_request_requester_id_ix ON access_request USING btree (tenant_id, requester_id, created_at, id);
CREATE INDEX access_request_resource_id_ix ON access_request USING btree (tenant_id, resource_id, created_at, id);
CREATE INDEX access_request_resource_type_ix ON access_request USING btree (tenant_id, resource_type, created_at, id);
CREATE INDEX access_request_status_ix ON access_request USING btree (tenant_id, status, created_at, id);
alter table access_request enable row level security;
alter table access_request force row level security;
create policy access_request_work on access_request to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on access_request
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on access_request to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on access_request to sallyport_work;
grant update (lease_until, generation) on access_request to sallyport_work;
CREATE TRIGGER access_request_decided BEFORE UPDATE OF status ON access_request FOR EACH ROW WHEN (old.status <> 'pending'::text) EXECUTE FUNCTION access_request_moves();
CREATE TRIGGER access_request_extends BEFORE UPDATE OF extends, held_seconds ON access_request FOR EACH ROW WHEN (old.extends IS DISTINCT FROM new.extends OR old.held_seconds IS DISTINCT FROM new.held_seconds) EXECUTE FUNCTION access_request_extends();
CREATE TRIGGER access_request_words AFTER INSERT ON access_request REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION access_request_words();

create table action_description (
  tenant_id uuid not null,
  action text not null,
  description text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint action_description_pk PRIMARY KEY (tenant_id, action),
  constraint action_description_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint action_description_action_ck CHECK (char_length(action) >= 1 AND char_length(action) <= 256),
  constraint action_description_description_ck CHECK (char_length(description) >= 1 AND char_length(description) <= 200)
);
alter table action_description enable row level security;
alter table action_description force row level security;
create policy tenant_wall on action_description
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on action_description to sallyport_app;
grant update (description, updated_at) on action_description to sallyport_app;
CREATE TRIGGER action_description_words AFTER INSERT ON action_description REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION action_description_words();
CREATE TRIGGER action_description_words_change AFTER UPDATE ON action_description FOR EACH ROW WHEN (old.description IS DISTINCT FROM new.description) EXECUTE FUNCTION action_description_words_change();

create table action_word (
  tenant_id uuid not null,
  action text not null,
  word text not null,
  constraint action_word_pk PRIMARY KEY (tenant_id, action, word),
  constraint action_word_action_fk FOREIGN KEY (tenant_id, action) REFERENCES action_description(tenant_id, action) ON DELETE CASCADE
);
CREATE INDEX action_word_word_ix ON action_word USING btree (tenant_id, word, action);
alter table action_word enable row level security;
alter table action_word force row level security;
create policy tenant_wall on action_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on action_word to sallyport_app;

create table ai_provider (
  tenant_id uuid not null,
  type text not null,
  config jsonb not null,
  sealed_secrets text,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint ai_provider_pk PRIMARY KEY (tenant_id, type),
  constraint ai_provider_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint ai_provider_type_ck CHECK (type = ANY (ARRAY['provider_a'::text, 'provider_b'::text, 'provider_c'::text]))
);
alter table ai_provider enable row level security;
alter table ai_provider force row level security;
create policy tenant_wall on ai_provider
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on ai_provider to sallyport_app;
grant update (config, sealed_secrets, updated_at) on ai_provider to sallyport_app;

create table ai_provider_default (
  tenant_id uuid not null,
  type text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint ai_provider_default_pk PRIMARY KEY (tenant_id),
  constraint ai_provider_default_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint ai_provider_default_type_ck CHECK (type = ANY (ARRAY['provider_a'::text, 'provider_b'::text, 'provider_c'::text]))
);
alter table ai_provider_default enable row level security;
alter table ai_provider_default force row level security;
create policy tenant_wall on ai_provider_default
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on ai_provider_default to sallyport_app;
grant update (type, updated_at) on ai_provider_default to sallyport_app;

create table api_key (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  created_by uuid not null,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  kind text not null default 'api'::text,
  identity_provider_id uuid,
  constraint api_key_pk PRIMARY KEY (tenant_id, id),
  constraint api_key_id_uq UNIQUE (id),
  constraint api_key_created_by_fk FOREIGN KEY (tenant_id, created_by) REFERENCES tenant_user(tenant_id, id),
  constraint api_key_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE SET NULL (identity_provider_id),
  constraint api_key_revoked_by_fk FOREIGN KEY (tenant_id, revoked_by) REFERENCES tenant_user(tenant_id, id),
  constraint api_key_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint api_key_identity_provider_id_ck CHECK (identity_provider_id IS NULL OR kind = 'scim'::text),
  constraint api_key_kind_ck CHECK (kind = ANY (ARRAY['api'::text, 'scim'::text])),
  constraint api_key_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint api_key_secret_hash_ck CHECK (octet_length(secret_hash) = 32)
);
CREATE INDEX api_key_created_at_ix ON api_key USING btree (tenant_id, created_at, id);
CREATE INDEX api_key_created_by_ix ON api_key USING btree (tenant_id, created_by);
CREATE INDEX api_key_identity_provider_created_at_ix ON api_key USING btree (tenant_id, identity_provider_id, created_at, id);
CREATE INDEX api_key_identity_provider_id_ix ON api_key USING btree (tenant_id, identity_provider_id, id);
CREATE INDEX api_key_revoked_by_ix ON api_key USING btree (tenant_id, revoked_by);
CREATE INDEX api_key_revoked_created_at_ix ON api_key USING btree (tenant_id, created_at, id) WHERE revoked_at IS NOT NULL;
CREATE INDEX api_key_revoked_ix ON api_key USING btree (tenant_id, id) WHERE revoked_at IS NOT NULL;
CREATE INDEX api_key_unrevoked_created_at_ix ON api_key USING btree (tenant_id, created_at, id) WHERE revoked_at IS NULL;
CREATE INDEX api_key_unrevoked_ix ON api_key USING btree (tenant_id, id) WHERE revoked_at IS NULL;
alter table api_key enable row level security;
alter table api_key force row level security;
create policy api_key_work on api_key for select to sallyport_work
  using (true);
create policy tenant_wall on api_key
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on api_key to sallyport_app;
grant update (last_used_at, revoked_at, revoked_by) on api_key to sallyport_app;
grant select (tenant_id, id) on api_key to sallyport_work;
CREATE TRIGGER api_key_authority AFTER UPDATE ON api_key FOR EACH ROW WHEN (old.revoked_at IS DISTINCT FROM new.revoked_at OR old.expires_at IS DISTINCT FROM new.expires_at OR old.scopes IS DISTINCT FROM new.scopes OR old.secret_hash IS DISTINCT FROM new.secret_hash OR old.kind IS DISTINCT FROM new.kind OR old.created_by IS DISTINCT FROM new.created_by) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER api_key_gone AFTER DELETE ON api_key FOR EACH ROW EXECUTE FUNCTION authority_changed();
CREATE TRIGGER api_key_rehearsal BEFORE INSERT ON api_key FOR EACH ROW EXECUTE FUNCTION rehearsal_lets_nobody_in('created_by');
CREATE TRIGGER api_key_words AFTER INSERT ON api_key REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION api_key_words();

create table api_key_word (
  tenant_id uuid not null,
  api_key_id uuid not null,
  word text not null,
  constraint api_key_word_pk PRIMARY KEY (tenant_id, api_key_id, word),
  constraint api_key_word_api_key_id_fk FOREIGN KEY (tenant_id, api_key_id) REFERENCES api_key(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX api_key_word_word_ix ON api_key_word USING btree (tenant_id, word, api_key_id);
alter table api_key_word enable row level security;
alter table api_key_word force row level security;
create policy tenant_wall on api_key_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on api_key_word to sallyport_app;

create table claimed_groups (
  tenant_id uuid not null,
  id uuid not null,
  next_look_at timestamp with time zone not null,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint claimed_groups_pk PRIMARY KEY (tenant_id, id),
  constraint claimed_groups_id_fk FOREIGN KEY (tenant_id, id) REFERENCES tenant_user(tenant_id, id),
  constraint claimed_groups_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX claimed_groups_due_ix ON claimed_groups USING btree (next_look_at);
alter table claimed_groups enable row level security;
alter table claimed_groups force row level security;
create policy claimed_groups_work on claimed_groups to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on claimed_groups
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on claimed_groups to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on claimed_groups to sallyport_work;
grant update (lease_until, generation) on claimed_groups to sallyport_work;

create table cloud_account (
  tenant_id uuid not null,
  id text not null,
  name text not null,
  account_id text not null,
  metadata jsonb not null,
  rank integer not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  rehearsal text,
  discovered_by uuid,
  constraint cloud_account_pk PRIMARY KEY (tenant_id, id),
  constraint cloud_account_discovered_by_fk FOREIGN KEY (tenant_id, discovered_by) REFERENCES provisioner(tenant_id, id) ON DELETE SET NULL (discovered_by),
  constraint cloud_account_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX cloud_account_account_id_ix ON cloud_account USING btree (tenant_id, account_id);
CREATE INDEX cloud_account_discovered_by_ix ON cloud_account USING btree (tenant_id, discovered_by) WHERE discovered_by IS NOT NULL;
CREATE INDEX cloud_account_rank_ix ON cloud_account USING btree (tenant_id, rank, name, id);
CREATE UNIQUE INDEX cloud_account_rehearsal_uq ON cloud_account USING btree (tenant_id, rehearsal) WHERE rehearsal IS NOT NULL;
alter table cloud_account enable row level security;
alter table cloud_account force row level security;
create policy tenant_wall on cloud_account
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on cloud_account to sallyport_app;
CREATE TRIGGER cloud_account_words AFTER INSERT ON cloud_account REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION cloud_account_words();
CREATE TRIGGER cloud_account_words_change AFTER UPDATE ON cloud_account FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name OR old.account_id IS DISTINCT FROM new.account_id) EXECUTE FUNCTION cloud_account_words_change();

create table cloud_account_word (
  tenant_id uuid not null,
  entry_id text not null,
  word text not null,
  constraint cloud_account_word_pk PRIMARY KEY (tenant_id, entry_id, word),
  constraint cloud_account_word_entry_id_fk FOREIGN KEY (tenant_id, entry_id) REFERENCES cloud_account(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX cloud_account_word_word_ix ON cloud_account_word USING btree (tenant_id, word, entry_id);
alter table cloud_account_word enable row level security;
alter table cloud_account_word force row level security;
create policy tenant_wall on cloud_account_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on cloud_account_word to sallyport_app;

create table decision (
  tenant_id uuid not null,
  id uuid not null,
  request_id uuid,
  question_kind text not null,
  principal_id uuid not null,
  question jsonb not null,
  allowed boolean not null,
  approval_mode text,
  rule_set_version bigint not null,
  rule_ids uuid[] not null,
  errors jsonb not null,
  decided_at timestamp with time zone not null default clock_timestamp(),
  reasoning text,
  notices text[] not null default '{}'::text[],
  constraint decision_pk PRIMARY KEY (tenant_id, id),
  constraint decision_principal_id_fk FOREIGN KEY (tenant_id, principal_id) REFERENCES tenant_user(tenant_id, id),
  constraint decision_request_id_fk FOREIGN KEY (tenant_id, request_id) REFERENCES access_request(tenant_id, id),
  constraint decision_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint decision_question_kind_ck CHECK (question_kind = ANY (ARRAY['ask'::text, 'approve'::text, 'ask_again'::text]))
);
CREATE INDEX decision_principal_id_ix ON decision USING btree (tenant_id, principal_id);
CREATE INDEX decision_request_id_ix ON decision USING btree (tenant_id, request_id);
alter table decision enable row level security;
alter table decision force row level security;
create policy tenant_wall on decision
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on decision to sallyport_app;

create table deleted_tenant (
  id uuid not null,
  name text not null,
  slug text,
  begun_at timestamp with time zone not null default clock_timestamp(),
  deleted_at timestamp with time zone,
  export_sha256 text not null,
  deleted_rows bigint not null default 0,
  constraint deleted_tenant_pk PRIMARY KEY (id),
  constraint deleted_tenant_export_sha256_ck CHECK (export_sha256 ~ '^[0-9a-f]{64}$'::text)
);

create table delivery (
  tenant_id uuid not null,
  id uuid not null,
  lane_id uuid not null,
  channel_id uuid not null,
  event_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  resends integer not null default 0,
  last_error text,
  last_response text,
  created_at timestamp with time zone not null default clock_timestamp(),
  attempted_at timestamp with time zone,
  next_attempt_at timestamp with time zone default clock_timestamp(),
  give_up_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint delivery_pk PRIMARY KEY (tenant_id, id),
  constraint delivery_event_id_uq UNIQUE (tenant_id, event_id, lane_id),
  constraint delivery_event_id_fk FOREIGN KEY (tenant_id, event_id) REFERENCES event(tenant_id, id),
  constraint delivery_lane_id_fk FOREIGN KEY (tenant_id, lane_id) REFERENCES delivery_lane(tenant_id, id),
  constraint delivery_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint delivery_finished_at_ck CHECK ((finished_at IS NULL) = (status = 'pending'::text)),
  constraint delivery_next_attempt_at_ck CHECK ((next_attempt_at IS NULL) = (status <> 'pending'::text)),
  constraint delivery_status_ck CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))
);
CREATE INDEX delivery_lane_ix ON delivery USING btree (tenant_id, lane_id, finished_at);
CREATE INDEX delivery_list_ix ON delivery USING btree (tenant_id, channel_id, seq, id);
CREATE INDEX delivery_pending_ix ON delivery USING btree (tenant_id, lane_id, xid, seq) WHERE finished_at IS NULL;
CREATE INDEX delivery_status_ix ON delivery USING btree (tenant_id, channel_id, status, seq, id);
CREATE INDEX delivery_waiting_ix ON delivery USING btree (created_at) WHERE finished_at IS NULL;
alter table delivery enable row level security;
alter table delivery force row level security;
create policy delivery_work on delivery for select to sallyport_work
  using (true);
create policy tenant_wall on delivery
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on delivery to sallyport_app;
grant select (tenant_id, id, created_at, finished_at) on delivery to sallyport_work;

create table delivery_lane (
  tenant_id uuid not null,
  id uuid not null,
  channel_id uuid,
  channel_type text not null,
  recipient text not null,
  failures integer not null default 0,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint delivery_lane_pk PRIMARY KEY (tenant_id, id),
  constraint delivery_lane_recipient_uq UNIQUE (tenant_id, channel_id, recipient),
  constraint delivery_lane_channel_id_fk FOREIGN KEY (tenant_id, channel_id) REFERENCES notification_channel(tenant_id, id) ON DELETE SET NULL (channel_id),
  constraint delivery_lane_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint delivery_lane_channel_type_ck CHECK (channel_type = ANY (ARRAY['email'::text, 'webhook'::text]))
);
CREATE INDEX delivery_lane_deleted_ix ON delivery_lane USING btree (tenant_id) WHERE channel_id IS NULL;
CREATE INDEX delivery_lane_due_ix ON delivery_lane USING btree (channel_type, next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX delivery_lane_held_up_ix ON delivery_lane USING btree (channel_type) WHERE failures > 0;
alter table delivery_lane enable row level security;
alter table delivery_lane force row level security;
create policy delivery_lane_work on delivery_lane to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on delivery_lane
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on delivery_lane to sallyport_app;
grant select (tenant_id, id, channel_type, failures, next_look_at, lease_until, generation) on delivery_lane to sallyport_work;
grant update (lease_until, generation) on delivery_lane to sallyport_work;

create table directory_conflict (
  tenant_id uuid not null,
  id uuid not null,
  identity_provider_id uuid not null,
  user_name_key text not null,
  resource jsonb not null,
  user_id uuid not null,
  kept_apart_by uuid,
  kept_apart_at timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  constraint directory_conflict_pk PRIMARY KEY (tenant_id, id),
  constraint directory_conflict_user_id_uq UNIQUE (tenant_id, identity_provider_id, user_id),
  constraint directory_conflict_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE CASCADE,
  constraint directory_conflict_kept_apart_by_fk FOREIGN KEY (tenant_id, kept_apart_by) REFERENCES tenant_user(tenant_id, id),
  constraint directory_conflict_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint directory_conflict_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint directory_conflict_kept_apart_ck CHECK ((kept_apart_by IS NULL) = (kept_apart_at IS NULL))
);
CREATE INDEX directory_conflict_kept_apart_by_ix ON directory_conflict USING btree (tenant_id, kept_apart_by) WHERE kept_apart_by IS NOT NULL;
CREATE INDEX directory_conflict_user_id_ix ON directory_conflict USING btree (tenant_id, user_id);
CREATE INDEX directory_conflict_user_name_key_ix ON directory_conflict USING btree (tenant_id, identity_provider_id, user_name_key);
alter table directory_conflict enable row level security;
alter table directory_conflict force row level security;
create policy tenant_wall on directory_conflict
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on directory_conflict to sallyport_app;
grant update (id, user_name_key, resource, kept_apart_by, kept_apart_at, created_at, seen_at) on directory_conflict to sallyport_app;

create table directory_group (
  tenant_id uuid not null,
  group_id uuid not null,
  identity_provider_id uuid not null,
  external_id text,
  display_name text not null,
  display_name_key text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint directory_group_pk PRIMARY KEY (tenant_id, group_id),
  constraint directory_group_external_id_uq UNIQUE (tenant_id, identity_provider_id, external_id),
  constraint directory_group_group_id_fk FOREIGN KEY (tenant_id, group_id) REFERENCES tenant_group(tenant_id, id) ON DELETE CASCADE,
  constraint directory_group_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE CASCADE,
  constraint directory_group_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint directory_group_display_name_key_ck CHECK (char_length(display_name_key) >= 1 AND char_length(display_name_key) <= 1200),
  constraint directory_group_external_id_ck CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 600)
);
CREATE INDEX directory_group_display_name_key_ix ON directory_group USING btree (tenant_id, identity_provider_id, display_name_key);
CREATE UNIQUE INDEX directory_group_display_name_uq ON directory_group USING btree (tenant_id, identity_provider_id, display_name_key) WHERE external_id IS NULL;
CREATE INDEX directory_group_external_id_ix ON directory_group USING btree (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX directory_group_provider_ix ON directory_group USING btree (tenant_id, identity_provider_id, group_id);
CREATE INDEX directory_group_updated_at_ix ON directory_group USING btree (tenant_id, identity_provider_id, updated_at);
alter table directory_group enable row level security;
alter table directory_group force row level security;
create policy tenant_wall on directory_group
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on directory_group to sallyport_app;
grant update (external_id, display_name, display_name_key, updated_at) on directory_group to sallyport_app;

create table directory_removal (
  tenant_id uuid not null,
  identity_provider_id uuid not null,
  id uuid not null,
  at timestamp with time zone not null default clock_timestamp(),
  size integer not null,
  constraint directory_removal_pk PRIMARY KEY (tenant_id, id),
  constraint directory_removal_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE CASCADE,
  constraint directory_removal_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX directory_removal_at_ix ON directory_removal USING btree (tenant_id, identity_provider_id, at);
alter table directory_removal enable row level security;
alter table directory_removal force row level security;
create policy tenant_wall on directory_removal
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on directory_removal to sallyport_app;

create table directory_user (
  tenant_id uuid not null,
  user_id uuid not null,
  identity_provider_id uuid not null,
  external_id text,
  user_name_key text not null,
  resource jsonb not null,
  manager_key text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint directory_user_pk PRIMARY KEY (tenant_id, user_id),
  constraint directory_user_external_id_uq UNIQUE (tenant_id, identity_provider_id, external_id),
  constraint directory_user_user_name_key_uq UNIQUE (tenant_id, identity_provider_id, user_name_key),
  constraint directory_user_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE CASCADE,
  constraint directory_user_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint directory_user_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id) ON DELETE CASCADE,
  constraint directory_user_external_id_ck CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 600),
  constraint directory_user_user_name_key_ck CHECK (char_length(user_name_key) >= 1 AND char_length(user_name_key) <= 1200)
);
CREATE INDEX directory_user_external_id_ix ON directory_user USING btree (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX directory_user_manager_ix ON directory_user USING btree (tenant_id, manager_key) WHERE manager_key IS NOT NULL;
CREATE INDEX directory_user_provider_ix ON directory_user USING btree (tenant_id, identity_provider_id, user_id);
CREATE INDEX directory_user_updated_at_ix ON directory_user USING btree (tenant_id, identity_provider_id, updated_at);
CREATE INDEX directory_user_user_name_key_ix ON directory_user USING btree (tenant_id, user_name_key);
alter table directory_user enable row level security;
alter table directory_user force row level security;
create policy tenant_wall on directory_user
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on directory_user to sallyport_app;
grant update (external_id, user_name_key, resource, manager_key, updated_at) on directory_user to sallyport_app;

create table directory_value (
  tenant_id uuid not null,
  identity_provider_id uuid not null,
  user_id uuid not null,
  path text not null,
  key text not null,
  element integer not null,
  constraint directory_value_pk PRIMARY KEY (tenant_id, user_id, path, element),
  constraint directory_value_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES directory_user(tenant_id, user_id) ON DELETE CASCADE
);
CREATE INDEX directory_value_key_ix ON directory_value USING btree (tenant_id, identity_provider_id, path, key, user_id);
alter table directory_value enable row level security;
alter table directory_value force row level security;
create policy tenant_wall on directory_value
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on directory_value to sallyport_app;
grant update (key) on directory_value to sallyport_app;

create table discovery_key (
  id text not null default 'discovery'::text,
  sealed_key text not null,
  root_key_id text not null,
  ids_from timestamp with time zone not null,
  ids_until timestamp with time zone not null,
  constraint discovery_key_pk PRIMARY KEY (id),
  constraint discovery_key_root_key_id_fk FOREIGN KEY (root_key_id) REFERENCES root_key(id),
  constraint discovery_key_id_ck CHECK (id = 'discovery'::text),
  constraint discovery_key_ids_ck CHECK (ids_from < ids_until)
);
CREATE INDEX discovery_key_root_key_id_ix ON discovery_key USING btree (root_key_id);
grant select, insert on discovery_key to sallyport_app;
grant update (sealed_key, root_key_id) on discovery_key to sallyport_app;

create table entitlement (
  tenant_id uuid not null,
  id uuid not null,
  provisioner text not null,
  target_key text not null,
  target jsonb not null,
  held_before boolean not null,
  observed text not null default 'absent'::text,
  act text,
  act_reference text,
  act_polls integer not null default 0,
  failures integer not null default 0,
  last_error text,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  updated_at timestamp with time zone not null default clock_timestamp(),
  gives boolean not null default false,
  may_land_until timestamp with time zone,
  provisioner_id uuid,
  session_seconds integer,
  suspected boolean not null default false,
  drift text,
  drifted_at timestamp with time zone,
  given_until timestamp with time zone,
  recorded_as text,
  connect jsonb,
  held_since timestamp with time zone,
  by_person boolean not null default false,
  session_note text,
  constraint entitlement_pk PRIMARY KEY (tenant_id, id),
  constraint entitlement_target_key_uq UNIQUE (tenant_id, provisioner, target_key),
  constraint entitlement_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE SET NULL (provisioner_id),
  constraint entitlement_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint entitlement_act_ck CHECK (act = ANY (ARRAY['grant'::text, 'revoke'::text])),
  constraint entitlement_act_reference_ck CHECK (act IS NOT NULL OR act_reference IS NULL),
  constraint entitlement_connect_ck CHECK (jsonb_typeof(connect) = 'object'::text AND octet_length(connect::text) <= 16384),
  constraint entitlement_drift_ck CHECK (drift = ANY (ARRAY['removed'::text, 'added'::text])),
  constraint entitlement_drifted_at_ck CHECK ((drift IS NULL) = (drifted_at IS NULL)),
  constraint entitlement_observed_ck CHECK (observed = ANY (ARRAY['absent'::text, 'present'::text, 'unknown'::text])),
  constraint entitlement_session_seconds_ck CHECK (session_seconds >= 0)
);
CREATE INDEX entitlement_drifted_ix ON entitlement USING btree (drifted_at) WHERE drift IS NOT NULL;
CREATE INDEX entitlement_gives_due_ix ON entitlement USING btree (next_look_at) WHERE next_look_at IS NOT NULL AND gives;
CREATE INDEX entitlement_provisioner_id_ix ON entitlement USING btree (tenant_id, provisioner_id) WHERE provisioner_id IS NOT NULL;
CREATE INDEX entitlement_takes_due_ix ON entitlement USING btree (next_look_at) WHERE next_look_at IS NOT NULL AND NOT gives;
alter table entitlement enable row level security;
alter table entitlement force row level security;
create policy entitlement_work on entitlement to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on entitlement
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on entitlement to sallyport_app;
grant select (tenant_id, id, failures, next_look_at, lease_until, generation, gives, may_land_until, drift, drifted_at) on entitlement to sallyport_work;
grant update (next_look_at, lease_until, generation, may_land_until) on entitlement to sallyport_work;
CREATE TRIGGER entitlement_drifted AFTER UPDATE OF drift ON entitlement FOR EACH ROW WHEN (old.drift IS DISTINCT FROM new.drift) EXECUTE FUNCTION entitlement_drifted();
CREATE TRIGGER entitlement_served AFTER UPDATE OF provisioner_id ON entitlement FOR EACH ROW WHEN (old.provisioner_id IS DISTINCT FROM new.provisioner_id AND new.provisioner_id IS NOT NULL) EXECUTE FUNCTION entitlement_served();

create table event (
  tenant_id uuid not null,
  id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('event_seq'::regclass),
  type text not null,
  at timestamp with time zone not null default clock_timestamp(),
  actor_kind text not null,
  actor_id uuid,
  api_key_id uuid,
  subject_type text not null,
  subject_id text not null,
  data jsonb not null default '{}'::jsonb,
  request_id text not null,
  constraint event_pk PRIMARY KEY (tenant_id, id),
  constraint event_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint event_actor_kind_ck CHECK (actor_kind = ANY (ARRAY['user'::text, 'api_key'::text, 'operator'::text, 'system'::text]))
) partition by RANGE (id);
CREATE INDEX event_actor_ix ON ONLY event USING btree (tenant_id, actor_id, seq) WHERE actor_id IS NOT NULL;
CREATE INDEX event_at_ix ON ONLY event USING btree (tenant_id, at, seq);
CREATE INDEX event_commit_ix ON ONLY event USING btree (tenant_id, xid, seq);
CREATE INDEX event_delivery_ix ON ONLY event USING btree (xid, seq);
CREATE INDEX event_subject_ix ON ONLY event USING btree (tenant_id, subject_id, seq);
CREATE INDEX event_tenant_ix ON ONLY event USING btree (tenant_id, seq);
CREATE INDEX event_type_ix ON ONLY event USING btree (tenant_id, type, seq);
alter table event enable row level security;
alter table event force row level security;
create policy event_work on event for select to sallyport_work
  using (true);
create policy tenant_wall on event
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on event to sallyport_app;
grant select (tenant_id, id, xid, seq, type, at) on event to sallyport_work;
CREATE TRIGGER event_append_only BEFORE UPDATE OR TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION event_is_append_only();
CREATE TRIGGER event_has_its_tenant AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION event_has_its_tenant();
CREATE TRIGGER event_leaves BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION leaves_with_its_tenant('event_append_only', 'events are never changed or deleted');

create table event_cursor (
  subscriber text not null,
  xid xid8 not null default '0'::xid8,
  seq bigint not null default 0,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint event_cursor_pk PRIMARY KEY (subscriber)
);
grant select, insert, update on event_cursor to sallyport_work;

-- The other partitions are like this one: `add_event_quarters` makes them, and which there are depends on the day.
create table event_default partition of event default;
alter table event_default enable row level security;
alter table event_default force row level security;
CREATE TRIGGER event_append_only BEFORE UPDATE OR TRUNCATE ON event_default FOR EACH STATEMENT EXECUTE FUNCTION event_is_append_only();
CREATE TRIGGER event_has_its_tenant AFTER INSERT ON event_default FOR EACH ROW EXECUTE FUNCTION event_has_its_tenant();
CREATE TRIGGER event_leaves BEFORE DELETE ON event_default FOR EACH ROW EXECUTE FUNCTION leaves_with_its_tenant('event_append_only', 'events are never changed or deleted');

create table event_parked (
  tenant_id uuid not null,
  subscriber text not null,
  event_id uuid not null,
  attempts integer not null default 1,
  next_look_at timestamp with time zone not null,
  last_error text not null,
  constraint event_parked_pk PRIMARY KEY (tenant_id, event_id, subscriber),
  constraint event_parked_event_id_fk FOREIGN KEY (tenant_id, event_id) REFERENCES event(tenant_id, id),
  constraint event_parked_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX event_parked_due_ix ON event_parked USING btree (subscriber, tenant_id, next_look_at);
alter table event_parked enable row level security;
alter table event_parked force row level security;
create policy event_parked_work on event_parked for select to sallyport_work
  using (true);
create policy tenant_wall on event_parked
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on event_parked to sallyport_app;
grant select (tenant_id, subscriber, event_id, next_look_at) on event_parked to sallyport_work;

create table event_queue (
  tenant_id uuid not null,
  id uuid not null,
  subscriber text not null,
  xid xid8 not null,
  seq bigint not null,
  until_xid xid8 not null,
  until_seq bigint not null,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint event_queue_pk PRIMARY KEY (tenant_id, id),
  constraint event_queue_subscriber_uq UNIQUE (tenant_id, subscriber),
  constraint event_queue_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX event_queue_due_ix ON event_queue USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX event_queue_waiting_ix ON event_queue USING btree (subscriber) WHERE next_look_at IS NOT NULL;
alter table event_queue enable row level security;
alter table event_queue force row level security;
create policy event_queue_work on event_queue to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on event_queue
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, update on event_queue to sallyport_app;
grant select, insert on event_queue to sallyport_work;
grant update (xid, seq, until_xid, until_seq, next_look_at, lease_until, generation) on event_queue to sallyport_work;

create table favourite (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  resource_type text not null,
  resource_id text not null,
  action text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint favourite_pk PRIMARY KEY (tenant_id, id),
  constraint favourite_pair_uq UNIQUE (tenant_id, user_id, resource_type, resource_id, action),
  constraint favourite_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint favourite_action_ck CHECK (char_length(action) >= 1 AND char_length(action) <= 256),
  constraint favourite_resource_id_ck CHECK (char_length(resource_id) >= 1 AND char_length(resource_id) <= 2048)
);
CREATE INDEX favourite_user_id_ix ON favourite USING btree (tenant_id, user_id, id);
alter table favourite enable row level security;
alter table favourite force row level security;
create policy tenant_wall on favourite
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on favourite to sallyport_app;

create table grant_word (
  tenant_id uuid not null,
  grant_id uuid not null,
  word text not null,
  constraint grant_word_pk PRIMARY KEY (tenant_id, grant_id, word)
);
CREATE INDEX grant_word_word_ix ON grant_word USING btree (tenant_id, word, grant_id);
alter table grant_word enable row level security;
alter table grant_word force row level security;
create policy tenant_wall on grant_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on grant_word to sallyport_app;

create table group_mapping (
  tenant_id uuid not null,
  id uuid not null,
  value text not null,
  group_id uuid not null,
  mapped_by uuid,
  mapped_at timestamp with time zone not null default clock_timestamp(),
  vouched_scopes text[] not null,
  constraint group_mapping_pk PRIMARY KEY (tenant_id, id),
  constraint group_mapping_value_uq UNIQUE (tenant_id, value, group_id),
  constraint group_mapping_group_id_fk FOREIGN KEY (tenant_id, group_id) REFERENCES tenant_group(tenant_id, id) ON DELETE CASCADE,
  constraint group_mapping_mapped_by_fk FOREIGN KEY (tenant_id, mapped_by) REFERENCES tenant_user(tenant_id, id),
  constraint group_mapping_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint group_mapping_value_ck CHECK (char_length(value) >= 1 AND char_length(value) <= 500)
);
CREATE INDEX group_mapping_group_id_ix ON group_mapping USING btree (tenant_id, group_id);
CREATE INDEX group_mapping_mapped_by_ix ON group_mapping USING btree (tenant_id, mapped_by);
alter table group_mapping enable row level security;
alter table group_mapping force row level security;
create policy tenant_wall on group_mapping
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on group_mapping to sallyport_app;
grant update (mapped_by, mapped_at, vouched_scopes) on group_mapping to sallyport_app;

create table group_member (
  tenant_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  membership_source text not null,
  added_by uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  mapping_id uuid,
  given_at timestamp with time zone,
  expires_at timestamp with time zone,
  end_cause text,
  constraint group_member_pk PRIMARY KEY (tenant_id, group_id, user_id),
  constraint group_member_added_by_fk FOREIGN KEY (tenant_id, added_by) REFERENCES tenant_user(tenant_id, id),
  constraint group_member_group_id_fk FOREIGN KEY (tenant_id, group_id) REFERENCES tenant_group(tenant_id, id) ON DELETE CASCADE,
  constraint group_member_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint group_member_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint group_member_claimed_ck CHECK ((mapping_id IS NULL) = (expires_at IS NULL) AND (mapping_id IS NULL) = (given_at IS NULL)),
  constraint group_member_end_cause_ck CHECK (end_cause IS NULL OR mapping_id IS NOT NULL),
  constraint group_member_membership_source_ck CHECK (membership_source = ANY (ARRAY['local'::text, 'scim'::text, 'identity_provider'::text]))
);
CREATE INDEX group_member_added_by_ix ON group_member USING btree (tenant_id, added_by);
CREATE INDEX group_member_expires_at_ix ON group_member USING btree (tenant_id, group_id, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX group_member_mapping_id_ix ON group_member USING btree (tenant_id, mapping_id) WHERE mapping_id IS NOT NULL;
CREATE INDEX group_member_user_id_ix ON group_member USING btree (tenant_id, user_id, group_id);
alter table group_member enable row level security;
alter table group_member force row level security;
create policy tenant_wall on group_member
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on group_member to sallyport_app;
grant update (membership_source, added_by, mapping_id, given_at, expires_at, end_cause) on group_member to sallyport_app;
CREATE TRIGGER group_member_authority AFTER INSERT OR DELETE ON group_member FOR EACH ROW EXECUTE FUNCTION authority_changed();
CREATE TRIGGER group_member_authority_change AFTER UPDATE ON group_member FOR EACH ROW WHEN (old.user_id IS DISTINCT FROM new.user_id OR old.group_id IS DISTINCT FROM new.group_id OR old.added_by IS DISTINCT FROM new.added_by OR old.given_at IS DISTINCT FROM new.given_at OR COALESCE(new.expires_at, 'infinity'::timestamp with time zone) < COALESCE(old.expires_at, 'infinity'::timestamp with time zone)) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER group_member_ended AFTER DELETE ON group_member REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION group_member_ended();
CREATE TRIGGER group_member_given_again AFTER UPDATE ON group_member FOR EACH ROW WHEN (old.added_by IS DISTINCT FROM new.added_by OR old.given_at IS DISTINCT FROM new.given_at) EXECUTE FUNCTION group_member_given_again();

create table group_role (
  tenant_id uuid not null,
  group_id uuid not null,
  role_id text not null,
  mapped_by uuid,
  mapped_at timestamp with time zone not null default clock_timestamp(),
  constraint group_role_pk PRIMARY KEY (tenant_id, group_id, role_id),
  constraint group_role_group_id_fk FOREIGN KEY (tenant_id, group_id) REFERENCES tenant_group(tenant_id, id) ON DELETE CASCADE,
  constraint group_role_mapped_by_fk FOREIGN KEY (tenant_id, mapped_by) REFERENCES tenant_user(tenant_id, id),
  constraint group_role_role_id_fk FOREIGN KEY (tenant_id, role_id) REFERENCES role(tenant_id, id),
  constraint group_role_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX group_role_mapped_by_ix ON group_role USING btree (tenant_id, mapped_by);
CREATE INDEX group_role_role_id_ix ON group_role USING btree (tenant_id, role_id, group_id);
alter table group_role enable row level security;
alter table group_role force row level security;
create policy tenant_wall on group_role
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on group_role to sallyport_app;
CREATE TRIGGER group_role_authority AFTER INSERT OR DELETE OR UPDATE ON group_role FOR EACH ROW EXECUTE FUNCTION authority_changed();
CREATE TRIGGER group_role_ended AFTER DELETE ON group_role REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION group_role_ended();

create table group_word (
  tenant_id uuid not null,
  group_id uuid not null,
  word text not null,
  constraint group_word_pk PRIMARY KEY (tenant_id, group_id, word),
  constraint group_word_group_id_fk FOREIGN KEY (tenant_id, group_id) REFERENCES tenant_group(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX group_word_word_ix ON group_word USING btree (tenant_id, word, group_id);
alter table group_word enable row level security;
alter table group_word force row level security;
create policy tenant_wall on group_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on group_word to sallyport_app;

create table identity_provider (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  provider_type text not null,
  config jsonb not null default '{}'::jsonb,
  sealed_secrets text,
  enabled boolean not null default true,
  last_synced_at timestamp with time zone,
  sync_status text not null default 'pending'::text,
  sync_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  mass_removal_at timestamp with time zone,
  configured_by uuid,
  config_version integer not null default 0,
  read_at timestamp with time zone,
  constraint identity_provider_pk PRIMARY KEY (tenant_id, id),
  constraint identity_provider_configured_by_fk FOREIGN KEY (tenant_id, configured_by) REFERENCES tenant_user(tenant_id, id),
  constraint identity_provider_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint identity_provider_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint identity_provider_provider_type_ck CHECK (provider_type = ANY (ARRAY['cloud_identity_center'::text, 'directory_a'::text, 'directory_b'::text, 'directory_c'::text, 'chat_service'::text, 'code_hosting'::text, 'incident_service'::text, 'custom_scim'::text])),
  constraint identity_provider_sync_status_ck CHECK (sync_status = ANY (ARRAY['pending'::text, 'syncing'::text, 'synced'::text, 'failed'::text]))
);
CREATE INDEX identity_provider_configured_by_ix ON identity_provider USING btree (tenant_id, configured_by) WHERE configured_by IS NOT NULL;
alter table identity_provider enable row level security;
alter table identity_provider force row level security;
create policy tenant_wall on identity_provider
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on identity_provider to sallyport_app;
grant update (name, config, sealed_secrets, enabled, last_synced_at, sync_status, sync_error, updated_at, mass_removal_at, configured_by, config_version, read_at) on identity_provider to sallyport_app;
CREATE TRIGGER identity_provider_authority AFTER UPDATE ON identity_provider FOR EACH ROW WHEN (old.enabled IS DISTINCT FROM new.enabled) EXECUTE FUNCTION authority_changed();

create table installation (
  is_only boolean not null default true,
  id uuid not null default gen_random_uuid(),
  epoch bigint not null default 0,
  adopted_epoch bigint,
  read_only_since timestamp with time zone,
  read_only_reason text,
  system_identifier text,
  database_oid bigint,
  timeline text,
  clock_back_ms bigint not null default 0,
  clock_steady_ms bigint not null default 0,
  ends_to_move boolean not null default false,
  constraint installation_pk PRIMARY KEY (is_only),
  constraint installation_clock_back_ck CHECK (clock_back_ms >= 0),
  constraint installation_is_only_ck CHECK (is_only),
  constraint installation_read_only_ck CHECK ((read_only_since IS NULL) = (read_only_reason IS NULL)),
  constraint installation_read_only_reason_ck CHECK (read_only_reason = ANY (ARRAY['restored'::text, 'moved'::text]))
);
grant select, update on installation to sallyport_app;
grant select (epoch, read_only_since, clock_back_ms, clock_steady_ms, ends_to_move) on installation to sallyport_work;
grant update (clock_back_ms, clock_steady_ms, ends_to_move) on installation to sallyport_work;

create table inventory_group (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  id text not null,
  name text not null,
  name_key text not null generated always as sort_key(name) stored,
  known boolean not null,
  run bigint not null,
  constraint inventory_group_pk PRIMARY KEY (tenant_id, provisioner_id, id),
  constraint inventory_group_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint inventory_group_id_ck CHECK (char_length(id) >= 1 AND char_length(id) <= 300),
  constraint inventory_group_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
CREATE INDEX inventory_group_name_ix ON inventory_group USING btree (tenant_id, provisioner_id, name_key, id);
alter table inventory_group enable row level security;
alter table inventory_group force row level security;
create policy tenant_wall on inventory_group
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on inventory_group to sallyport_app;

create table inventory_group_member (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  group_id text not null,
  person_id text not null,
  run bigint not null,
  constraint inventory_group_member_pk PRIMARY KEY (tenant_id, provisioner_id, group_id, person_id),
  constraint inventory_group_member_group_id_fk FOREIGN KEY (tenant_id, provisioner_id, group_id) REFERENCES inventory_group(tenant_id, provisioner_id, id) ON DELETE CASCADE
);
CREATE INDEX inventory_group_member_person_id_ix ON inventory_group_member USING btree (tenant_id, provisioner_id, person_id, group_id);
alter table inventory_group_member enable row level security;
alter table inventory_group_member force row level security;
create policy tenant_wall on inventory_group_member
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on inventory_group_member to sallyport_app;

create table inventory_part (
  tenant_id uuid not null,
  id uuid not null,
  provisioner_id uuid not null,
  part text not null,
  failures integer not null default 0,
  last_error text,
  finished_at timestamp with time zone,
  finished_run bigint,
  counts jsonb,
  next_look_at timestamp with time zone not null,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint inventory_part_pk PRIMARY KEY (tenant_id, id),
  constraint inventory_part_part_uq UNIQUE (tenant_id, provisioner_id, part),
  constraint inventory_part_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint inventory_part_part_ck CHECK (part = ANY (ARRAY['accounts'::text, 'permission_sets'::text, 'people'::text, 'databases'::text, 'assignments'::text]))
);
CREATE INDEX inventory_part_due_ix ON inventory_part USING btree (next_look_at);
alter table inventory_part enable row level security;
alter table inventory_part force row level security;
create policy inventory_part_work on inventory_part to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on inventory_part
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on inventory_part to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on inventory_part to sallyport_work;
grant update (lease_until, generation) on inventory_part to sallyport_work;

create table inventory_person (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  id text not null,
  name text not null,
  name_key text not null generated always as sort_key(name) stored,
  login text,
  login_key text,
  external_id text,
  run bigint not null,
  constraint inventory_person_pk PRIMARY KEY (tenant_id, provisioner_id, id),
  constraint inventory_person_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint inventory_person_external_id_ck CHECK (char_length(external_id) >= 1 AND char_length(external_id) <= 500),
  constraint inventory_person_id_ck CHECK (char_length(id) >= 1 AND char_length(id) <= 300),
  constraint inventory_person_login_ck CHECK (char_length(login) >= 1 AND char_length(login) <= 300),
  constraint inventory_person_login_key_ck CHECK (char_length(login_key) >= 1 AND char_length(login_key) <= 600),
  constraint inventory_person_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
CREATE INDEX inventory_person_external_id_ix ON inventory_person USING btree (tenant_id, provisioner_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX inventory_person_login_ix ON inventory_person USING btree (tenant_id, provisioner_id, login_key) WHERE login_key IS NOT NULL;
CREATE INDEX inventory_person_name_ix ON inventory_person USING btree (tenant_id, provisioner_id, name_key, id);
alter table inventory_person enable row level security;
alter table inventory_person force row level security;
create policy tenant_wall on inventory_person
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on inventory_person to sallyport_app;

create table inventory_resource (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  resource_type text not null,
  id text not null,
  name text not null,
  description text,
  account_id text,
  tags jsonb not null,
  facts jsonb not null,
  run bigint not null,
  constraint inventory_resource_pk PRIMARY KEY (tenant_id, provisioner_id, resource_type, id),
  constraint inventory_resource_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint inventory_resource_account_id_ck CHECK (char_length(account_id) <= 128),
  constraint inventory_resource_description_ck CHECK (char_length(description) <= 1000),
  constraint inventory_resource_facts_ck CHECK (jsonb_typeof(facts) = 'object'::text AND octet_length(facts::text) <= 8192),
  constraint inventory_resource_id_ck CHECK (char_length(id) >= 1 AND char_length(id) <= 300),
  constraint inventory_resource_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint inventory_resource_resource_type_ck CHECK (resource_type = ANY (ARRAY['cloud_account'::text, 'cloud_organizational_unit'::text, 'cloud_permission_set'::text, 'cloud_db_instance'::text])),
  constraint inventory_resource_tags_ck CHECK (jsonb_typeof(tags) = 'object'::text AND octet_length(tags::text) <= 32768)
);
CREATE INDEX inventory_resource_id_ix ON inventory_resource USING btree (tenant_id, resource_type, id, provisioner_id);
CREATE INDEX inventory_resource_name_ix ON inventory_resource USING btree (tenant_id, resource_type, name, provisioner_id);
alter table inventory_resource enable row level security;
alter table inventory_resource force row level security;
create policy tenant_wall on inventory_resource
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on inventory_resource to sallyport_app;

create table invitation (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null,
  mail_secret_hash bytea,
  vouched_scopes text[] not null,
  created_by uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone not null default clock_timestamp() + '72:00:00'::interval,
  ended_as text,
  ended_at timestamp with time zone,
  constraint invitation_pk PRIMARY KEY (tenant_id, id),
  constraint invitation_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint invitation_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint invitation_ended_as_ck CHECK (ended_as = ANY (ARRAY['used'::text, 'revoked'::text, 'replaced'::text, 'expired'::text])),
  constraint invitation_ended_ck CHECK ((ended_as IS NULL) = (ended_at IS NULL)),
  constraint invitation_mail_secret_hash_ck CHECK (octet_length(mail_secret_hash) = 32),
  constraint invitation_secret_hash_ck CHECK (octet_length(secret_hash) = 32)
);
CREATE UNIQUE INDEX invitation_live_uq ON invitation USING btree (tenant_id, user_id) WHERE ended_at IS NULL;
CREATE INDEX invitation_user_id_ix ON invitation USING btree (tenant_id, user_id, id);
alter table invitation enable row level security;
alter table invitation force row level security;
create policy tenant_wall on invitation
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on invitation to sallyport_app;
grant update (ended_as, ended_at) on invitation to sallyport_app;

create table invitation_mail (
  tenant_id uuid not null,
  id uuid not null,
  email_key text not null,
  state text not null,
  sealed_secrets text,
  attempts integer not null default 0,
  last_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  sent_at timestamp with time zone,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint invitation_mail_pk PRIMARY KEY (tenant_id, id),
  constraint invitation_mail_id_fk FOREIGN KEY (tenant_id, id) REFERENCES invitation(tenant_id, id),
  constraint invitation_mail_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint invitation_mail_attempts_ck CHECK (attempts >= 0),
  constraint invitation_mail_sent_ck CHECK ((state = 'sent'::text) = (sent_at IS NOT NULL)),
  constraint invitation_mail_state_ck CHECK (state = ANY (ARRAY['pending'::text, 'sent'::text, 'failed'::text])),
  constraint invitation_mail_waits_ck CHECK ((state = 'pending'::text) = (sealed_secrets IS NOT NULL) AND (state = 'pending'::text) = (next_look_at IS NOT NULL))
);
CREATE INDEX invitation_mail_address_ix ON invitation_mail USING btree (tenant_id, email_key, created_at);
CREATE INDEX invitation_mail_created_ix ON invitation_mail USING btree (tenant_id, created_at);
CREATE INDEX invitation_mail_due_ix ON invitation_mail USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
alter table invitation_mail enable row level security;
alter table invitation_mail force row level security;
create policy invitation_mail_work on invitation_mail to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on invitation_mail
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on invitation_mail to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on invitation_mail to sallyport_work;
grant update (lease_until, generation) on invitation_mail to sallyport_work;

create table kept_answer (
  tenant_id uuid not null,
  id bytea not null,
  sealed_answer text not null,
  expires_at timestamp with time zone not null,
  constraint kept_answer_pk PRIMARY KEY (tenant_id, id),
  constraint kept_answer_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint kept_answer_id_ck CHECK (octet_length(id) = 32)
);
CREATE INDEX kept_answer_expired_ix ON kept_answer USING btree (tenant_id, expires_at);
alter table kept_answer enable row level security;
alter table kept_answer force row level security;
create policy tenant_wall on kept_answer
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on kept_answer to sallyport_app;
grant update (sealed_answer, expires_at) on kept_answer to sallyport_app;

create table logout_token (
  id bytea not null,
  expires_at timestamp with time zone not null,
  provider text not null default ''::text,
  provider_sub_hash bytea,
  provider_sid_hash bytea,
  received_at timestamp with time zone not null default clock_timestamp(),
  obeyed boolean not null default true,
  constraint logout_token_pk PRIMARY KEY (id),
  constraint logout_token_id_ck CHECK (octet_length(id) = 32),
  constraint logout_token_provider_sid_hash_ck CHECK (octet_length(provider_sid_hash) = 32),
  constraint logout_token_provider_sub_hash_ck CHECK (octet_length(provider_sub_hash) = 32)
);
CREATE INDEX logout_token_expires_ix ON logout_token USING btree (expires_at);
CREATE INDEX logout_token_provider_ix ON logout_token USING btree (provider, received_at);
grant select, insert, delete on logout_token to sallyport_app;
grant update (expires_at, received_at, obeyed) on logout_token to sallyport_app;

create table migration (
  name text not null,
  checksum text not null,
  ran_at timestamp with time zone not null default clock_timestamp(),
  oldest_code text,
  constraint migration_pk PRIMARY KEY (name)
);
grant select on migration to pg_database_owner;
grant select on migration to sallyport_app;

create table notification (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  title text not null,
  body text not null,
  resource_type text,
  resource_id uuid,
  read_at timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null generated always as identity,
  constraint notification_pk PRIMARY KEY (tenant_id, id),
  constraint notification_event_id_uq UNIQUE (tenant_id, event_id, user_id),
  constraint notification_event_id_fk FOREIGN KEY (tenant_id, event_id) REFERENCES event(tenant_id, id),
  constraint notification_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint notification_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id)
);
CREATE INDEX notification_stream_ix ON notification USING btree (tenant_id, user_id, xid, seq);
CREATE INDEX notification_unread_id_ix ON notification USING btree (tenant_id, user_id, id) WHERE read_at IS NULL;
CREATE INDEX notification_user_id_ix ON notification USING btree (tenant_id, user_id, id);
CREATE INDEX notification_xid_ix ON notification USING btree (xid);
alter table notification enable row level security;
alter table notification force row level security;
create policy notification_work on notification for select to sallyport_work
  using (true);
create policy tenant_wall on notification
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on notification to sallyport_app;
grant update (read_at) on notification to sallyport_app;
grant select (user_id, xid) on notification to sallyport_work;

create table notification_channel (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  channel_type text not null,
  config jsonb not null,
  event_filters text[] not null default '{}'::text[],
  enabled boolean not null default true,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  sealed_secrets text,
  previous_until timestamp with time zone,
  constraint notification_channel_pk PRIMARY KEY (tenant_id, id),
  constraint notification_channel_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint notification_channel_channel_type_ck CHECK (channel_type = ANY (ARRAY['email'::text, 'webhook'::text])),
  constraint notification_channel_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint notification_channel_sealed_secrets_ck CHECK ((channel_type = 'webhook'::text) = (sealed_secrets IS NOT NULL))
);
alter table notification_channel enable row level security;
alter table notification_channel force row level security;
create policy tenant_wall on notification_channel
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on notification_channel to sallyport_app;
grant update (name, config, event_filters, enabled, updated_at, sealed_secrets, previous_until) on notification_channel to sallyport_app;

create table notification_mail (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  kind text not null,
  urgent boolean not null,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  last_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  sent_at timestamp with time zone,
  next_look_at timestamp with time zone default clock_timestamp(),
  constraint notification_mail_pk PRIMARY KEY (tenant_id, id),
  constraint notification_mail_id_fk FOREIGN KEY (tenant_id, id) REFERENCES notification(tenant_id, id) ON DELETE CASCADE,
  constraint notification_mail_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint notification_mail_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint notification_mail_attempts_ck CHECK (attempts >= 0),
  constraint notification_mail_sent_ck CHECK ((state = 'sent'::text) = (sent_at IS NOT NULL)),
  constraint notification_mail_state_ck CHECK (state = ANY (ARRAY['pending'::text, 'sent'::text, 'failed'::text])),
  constraint notification_mail_waits_ck CHECK ((state = 'pending'::text) = (next_look_at IS NOT NULL))
);
CREATE INDEX notification_mail_ahead_ix ON notification_mail USING btree (tenant_id, user_id, kind, id) WHERE next_look_at IS NOT NULL;
CREATE INDEX notification_mail_due_ix ON notification_mail USING btree (tenant_id, urgent, next_look_at) WHERE next_look_at IS NOT NULL;
CREATE INDEX notification_mail_sent_ix ON notification_mail USING btree (tenant_id, user_id, kind, sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX notification_mail_user_id_ix ON notification_mail USING btree (tenant_id, user_id);
alter table notification_mail enable row level security;
alter table notification_mail force row level security;
create policy tenant_wall on notification_mail
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on notification_mail to sallyport_app;

create table notification_mail_queue (
  tenant_id uuid not null,
  id uuid not null default gen_random_uuid(),
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint notification_mail_queue_pk PRIMARY KEY (tenant_id, id),
  constraint notification_mail_queue_tenant_id_uq UNIQUE (tenant_id),
  constraint notification_mail_queue_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX notification_mail_queue_due_ix ON notification_mail_queue USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
alter table notification_mail_queue enable row level security;
alter table notification_mail_queue force row level security;
create policy notification_mail_queue_work on notification_mail_queue to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on notification_mail_queue
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on notification_mail_queue to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on notification_mail_queue to sallyport_work;
grant update (lease_until, generation) on notification_mail_queue to sallyport_work;

create table orphan (
  tenant_id uuid not null,
  id uuid not null,
  provisioner_id uuid not null,
  target_key text not null,
  target jsonb not null,
  origin text not null,
  epoch bigint,
  grant_id uuid,
  exclusive boolean not null default false,
  first_seen_at timestamp with time zone not null,
  listed_at timestamp with time zone not null,
  held_back boolean not null default false,
  ending_since timestamp with time zone,
  constraint orphan_pk PRIMARY KEY (tenant_id, id),
  constraint orphan_target_key_uq UNIQUE (tenant_id, provisioner_id, target_key),
  constraint orphan_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint orphan_origin_ck CHECK (origin = ANY (ARRAY['ours'::text, 'unproven'::text, 'foreign_set'::text])),
  constraint orphan_ours_ck CHECK (origin = 'ours'::text OR epoch IS NULL AND ending_since IS NULL AND NOT held_back)
);
CREATE INDEX orphan_listed_ix ON orphan USING btree (tenant_id, provisioner_id, (NOT exclusive), id);
alter table orphan enable row level security;
alter table orphan force row level security;
create policy tenant_wall on orphan
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on orphan to sallyport_app;
grant update (target, origin, epoch, grant_id, exclusive, listed_at, held_back, ending_since) on orphan to sallyport_app;

create table past_gift (
  tenant_id uuid not null,
  id uuid not null default gen_random_uuid(),
  user_id uuid,
  group_id uuid,
  role_id text,
  given_by uuid,
  given_at timestamp with time zone not null,
  ended_at timestamp with time zone not null default clock_timestamp(),
  since timestamp with time zone,
  constraint past_gift_pk PRIMARY KEY (tenant_id, id),
  constraint past_gift_given_by_fk FOREIGN KEY (tenant_id, given_by) REFERENCES tenant_user(tenant_id, id),
  constraint past_gift_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint past_gift_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id)
);
CREATE INDEX past_gift_given_by_ix ON past_gift USING btree (tenant_id, given_by, given_at);
CREATE INDEX past_gift_group_id_ix ON past_gift USING btree (tenant_id, group_id);
CREATE INDEX past_gift_role_id_ix ON past_gift USING btree (tenant_id, role_id);
CREATE INDEX past_gift_user_id_ix ON past_gift USING btree (tenant_id, user_id);
alter table past_gift enable row level security;
alter table past_gift force row level security;
create policy tenant_wall on past_gift
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on past_gift to sallyport_app;

create table policy (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default ''::text,
  enabled boolean not null default true,
  priority integer not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  rehearsal text,
  name_key text not null generated always as sort_key(name) stored,
  constraint policy_pk PRIMARY KEY (tenant_id, id),
  constraint policy_priority_uq UNIQUE (tenant_id, priority) DEFERRABLE,
  constraint policy_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint policy_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
CREATE INDEX policy_created_at_ix ON policy USING btree (tenant_id, created_at, id);
CREATE INDEX policy_name_ix ON policy USING btree (tenant_id, name_key, id);
CREATE UNIQUE INDEX policy_rehearsal_uq ON policy USING btree (tenant_id, rehearsal) WHERE rehearsal IS NOT NULL;
alter table policy enable row level security;
alter table policy force row level security;
create policy tenant_wall on policy
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on policy to sallyport_app;
grant update (name, description, enabled, priority, updated_at) on policy to sallyport_app;
CREATE TRIGGER policy_words AFTER INSERT ON policy REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION policy_words();
CREATE TRIGGER policy_words_change AFTER UPDATE ON policy FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name OR old.description IS DISTINCT FROM new.description) EXECUTE FUNCTION policy_words_change();

create table policy_case (
  tenant_id uuid not null,
  ordinal integer not null,
  body jsonb not null,
  name text not null generated always as body ->> 'case'::text stored,
  required boolean not null generated always as COALESCE((body ->> 'required'::text)::boolean, false) stored,
  constraint policy_case_pk PRIMARY KEY (tenant_id, ordinal),
  constraint policy_case_name_uq UNIQUE (tenant_id, name),
  constraint policy_case_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint policy_case_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200)
);
CREATE INDEX policy_case_required_ix ON policy_case USING btree (tenant_id) WHERE required;
alter table policy_case enable row level security;
alter table policy_case force row level security;
create policy tenant_wall on policy_case
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on policy_case to sallyport_app;

create table policy_replay (
  tenant_id uuid not null,
  id uuid not null,
  created_by uuid,
  status text not null default 'waiting'::text,
  draft jsonb not null,
  days integer not null,
  attempts integer not null default 0,
  asked integer not null default 0,
  total integer,
  result jsonb,
  error jsonb,
  created_at timestamp with time zone not null default clock_timestamp(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint policy_replay_pk PRIMARY KEY (tenant_id, id),
  constraint policy_replay_created_by_fk FOREIGN KEY (tenant_id, created_by) REFERENCES tenant_user(tenant_id, id),
  constraint policy_replay_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint policy_replay_days_ck CHECK (days >= 1 AND days <= 90),
  constraint policy_replay_error_ck CHECK ((error IS NOT NULL) = (status = 'failed'::text)),
  constraint policy_replay_finished_at_ck CHECK ((finished_at IS NOT NULL) = (status = ANY (ARRAY['done'::text, 'failed'::text]))),
  constraint policy_replay_result_ck CHECK ((result IS NOT NULL) = (status = 'done'::text)),
  constraint policy_replay_status_ck CHECK (status = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text]))
);
CREATE INDEX policy_replay_created_by_ix ON policy_replay USING btree (tenant_id, created_by);
CREATE INDEX policy_replay_due_ix ON policy_replay USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE UNIQUE INDEX policy_replay_one_uq ON policy_replay USING btree (tenant_id) WHERE finished_at IS NULL;
alter table policy_replay enable row level security;
alter table policy_replay force row level security;
create policy policy_replay_work on policy_replay to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on policy_replay
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on policy_replay to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on policy_replay to sallyport_work;
grant update (lease_until, generation) on policy_replay to sallyport_work;

create table policy_rule (
  tenant_id uuid not null,
  id uuid not null,
  policy_id uuid not null,
  ordinal integer not null,
  effect text not null,
  principal_scope_type text not null,
  principal_entity_type text,
  principal_entity_id text,
  action_scope_type text not null,
  action_ids text[] not null,
  resource_scope_type text not null,
  resource_entity_type text,
  resource_entity_id text,
  conditions text,
  policy_text text not null,
  notice text,
  audit_session boolean not null,
  approval_mode text,
  saved_by uuid,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint policy_rule_pk PRIMARY KEY (tenant_id, id),
  constraint policy_rule_policy_id_fk FOREIGN KEY (tenant_id, policy_id) REFERENCES policy(tenant_id, id) ON DELETE CASCADE,
  constraint policy_rule_saved_by_fk FOREIGN KEY (tenant_id, saved_by) REFERENCES tenant_user(tenant_id, id),
  constraint policy_rule_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint policy_rule_action_scope_type_ck CHECK (action_scope_type = ANY (ARRAY['any'::text, 'eq'::text, 'in'::text])),
  constraint policy_rule_approval_mode_ck CHECK (approval_mode = ANY (ARRAY['require'::text, 'auto'::text, 'break_glass'::text])),
  constraint policy_rule_effect_ck CHECK (effect = ANY (ARRAY['permit'::text, 'forbid'::text])),
  constraint policy_rule_policy_text_ck CHECK (octet_length(policy_text) <= 20000),
  constraint policy_rule_principal_scope_type_ck CHECK (principal_scope_type = ANY (ARRAY['any'::text, 'eq'::text, 'in'::text, 'is'::text, 'is_in'::text])),
  constraint policy_rule_resource_scope_type_ck CHECK (resource_scope_type = ANY (ARRAY['any'::text, 'eq'::text, 'in'::text, 'is'::text, 'is_in'::text]))
);
CREATE INDEX policy_rule_policy_id_ix ON policy_rule USING btree (tenant_id, policy_id, ordinal, id);
CREATE INDEX policy_rule_saved_by_ix ON policy_rule USING btree (tenant_id, saved_by);
alter table policy_rule enable row level security;
alter table policy_rule force row level security;
create policy tenant_wall on policy_rule
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on policy_rule to sallyport_app;

create table policy_word (
  tenant_id uuid not null,
  policy_id uuid not null,
  word text not null,
  constraint policy_word_pk PRIMARY KEY (tenant_id, policy_id, word),
  constraint policy_word_policy_id_fk FOREIGN KEY (tenant_id, policy_id) REFERENCES policy(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX policy_word_word_ix ON policy_word USING btree (tenant_id, word, policy_id);
alter table policy_word enable row level security;
alter table policy_word force row level security;
create policy tenant_wall on policy_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on policy_word to sallyport_app;

create table process (
  id uuid not null,
  version text not null,
  commit text,
  public_url text not null,
  host text not null,
  started_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  constraint process_pk PRIMARY KEY (id)
);
grant select on process to pg_database_owner;
grant select, insert, delete on process to sallyport_app;
grant update (seen_at) on process to sallyport_app;

create table provisioner (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  provisioner_type text not null,
  config jsonb not null default '{}'::jsonb,
  sealed_secrets text,
  enabled boolean not null default true,
  corrects_drift boolean not null default false,
  version integer not null default 1,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  checked_at timestamp with time zone,
  checks jsonb,
  previous_until timestamp with time zone,
  constraint provisioner_pk PRIMARY KEY (tenant_id, id),
  constraint provisioner_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint provisioner_checks_ck CHECK ((checked_at IS NULL) = (checks IS NULL)),
  constraint provisioner_instance_ck CHECK (NOT enabled OR provisioner_type <> 'aws-identity-center'::text OR config ? 'instance_arn'::text AND config ? 'identity_store_id'::text),
  constraint provisioner_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint provisioner_provisioner_type_ck CHECK (provisioner_type = ANY (ARRAY['sandbox'::text, 'postgresql'::text, 'aws-identity-center'::text, 'webhook'::text]))
);
alter table provisioner enable row level security;
alter table provisioner force row level security;
create policy provisioner_work on provisioner for select to sallyport_work
  using (true);
create policy tenant_wall on provisioner
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on provisioner to sallyport_app;
grant update (name, config, sealed_secrets, enabled, corrects_drift, version, updated_at, checked_at, checks, previous_until) on provisioner to sallyport_app;
grant select (tenant_id, id, provisioner_type, enabled, created_at) on provisioner to sallyport_work;

create table recovery_code (
  tenant_id uuid not null,
  user_id uuid not null,
  hash bytea not null,
  constraint recovery_code_pk PRIMARY KEY (tenant_id, user_id, hash),
  constraint recovery_code_tenant_id_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint recovery_code_hash_ck CHECK (octet_length(hash) = 32)
);
alter table recovery_code enable row level security;
alter table recovery_code force row level security;
create policy tenant_wall on recovery_code
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on recovery_code to sallyport_app;

create table reminder (
  tenant_id uuid not null,
  id uuid not null,
  sent integer not null default 0,
  next_look_at timestamp with time zone not null,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint reminder_pk PRIMARY KEY (tenant_id, id),
  constraint reminder_id_fk FOREIGN KEY (tenant_id, id) REFERENCES access_request(tenant_id, id),
  constraint reminder_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint reminder_sent_ck CHECK (sent >= 0)
);
CREATE INDEX reminder_due_ix ON reminder USING btree (next_look_at);
alter table reminder enable row level security;
alter table reminder force row level security;
create policy reminder_work on reminder to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on reminder
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on reminder to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on reminder to sallyport_work;
grant update (lease_until, generation) on reminder to sallyport_work;

create table request_comment (
  tenant_id uuid not null,
  id uuid not null,
  request_id uuid not null,
  nth integer not null,
  author_id uuid not null,
  text text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint request_comment_pk PRIMARY KEY (tenant_id, id),
  constraint request_comment_nth_uq UNIQUE (tenant_id, request_id, nth),
  constraint request_comment_author_id_fk FOREIGN KEY (tenant_id, author_id) REFERENCES tenant_user(tenant_id, id),
  constraint request_comment_request_id_fk FOREIGN KEY (tenant_id, request_id) REFERENCES access_request(tenant_id, id),
  constraint request_comment_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint request_comment_nth_ck CHECK (nth >= 1 AND nth <= 100),
  constraint request_comment_text_ck CHECK (char_length(text) >= 1 AND char_length(text) <= 2000)
);
CREATE INDEX request_comment_author_id_ix ON request_comment USING btree (tenant_id, author_id);
alter table request_comment enable row level security;
alter table request_comment force row level security;
create policy tenant_wall on request_comment
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on request_comment to sallyport_app;
CREATE TRIGGER request_comment_leaves BEFORE DELETE ON request_comment FOR EACH ROW EXECUTE FUNCTION leaves_with_its_tenant('request_comment_stays', 'comments are never changed or deleted');
CREATE TRIGGER request_comment_stays BEFORE UPDATE OR TRUNCATE ON request_comment FOR EACH STATEMENT EXECUTE FUNCTION request_comment_stays();

create table request_word (
  tenant_id uuid not null,
  request_id uuid not null,
  word text not null,
  constraint request_word_pk PRIMARY KEY (tenant_id, request_id, word)
);
CREATE INDEX request_word_word_ix ON request_word USING btree (tenant_id, word, request_id);
alter table request_word enable row level security;
alter table request_word force row level security;
create policy tenant_wall on request_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on request_word to sallyport_app;

create table role (
  tenant_id uuid not null,
  id text not null,
  name text not null,
  description text not null default ''::text,
  scopes text[] not null,
  system boolean not null default false,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  version integer not null default 1,
  constraint role_pk PRIMARY KEY (tenant_id, id),
  constraint role_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint role_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint role_name_system_ck CHECK (system OR (lower(btrim(NORMALIZE(name, NFKC)) COLLATE "C") <> ALL (ARRAY['user'::text, 'approver'::text, 'admin'::text, 'auditor'::text])))
);
alter table role enable row level security;
alter table role force row level security;
create policy tenant_wall on role
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on role to sallyport_app;
grant update (name, description, scopes, updated_at, version) on role to sallyport_app;
CREATE TRIGGER role_authority AFTER UPDATE ON role FOR EACH ROW WHEN (old.scopes IS DISTINCT FROM new.scopes) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER role_system_fixed BEFORE UPDATE ON role FOR EACH ROW WHEN (old.system) EXECUTE FUNCTION system_role_is_fixed();
CREATE TRIGGER role_system_leaves BEFORE DELETE ON role FOR EACH ROW WHEN (old.system) EXECUTE FUNCTION leaves_with_its_tenant('role_system_fixed', 'a system role is never changed or deleted');
CREATE TRIGGER role_words AFTER INSERT ON role REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION role_words();
CREATE TRIGGER role_words_change AFTER UPDATE ON role FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name) EXECUTE FUNCTION role_words_change();

create table role_added_scope (
  tenant_id uuid not null,
  role_id text not null,
  scope text not null,
  added_by uuid,
  added_at timestamp with time zone not null default clock_timestamp(),
  constraint role_added_scope_pk PRIMARY KEY (tenant_id, role_id, scope),
  constraint role_added_scope_added_by_fk FOREIGN KEY (tenant_id, added_by) REFERENCES tenant_user(tenant_id, id),
  constraint role_added_scope_role_id_fk FOREIGN KEY (tenant_id, role_id) REFERENCES role(tenant_id, id) ON DELETE CASCADE,
  constraint role_added_scope_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
CREATE INDEX role_added_scope_added_by_ix ON role_added_scope USING btree (tenant_id, added_by);
alter table role_added_scope enable row level security;
alter table role_added_scope force row level security;
create policy tenant_wall on role_added_scope
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on role_added_scope to sallyport_app;
grant update (added_by, added_at) on role_added_scope to sallyport_app;
CREATE TRIGGER role_added_scope_ended AFTER DELETE ON role_added_scope REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION role_added_scope_ended();
CREATE TRIGGER role_added_scope_replaced AFTER UPDATE ON role_added_scope REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION role_added_scope_ended();

create table role_word (
  tenant_id uuid not null,
  role_id text not null,
  word text not null,
  constraint role_word_pk PRIMARY KEY (tenant_id, role_id, word),
  constraint role_word_role_id_fk FOREIGN KEY (tenant_id, role_id) REFERENCES role(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX role_word_word_ix ON role_word USING btree (tenant_id, word, role_id);
alter table role_word enable row level security;
alter table role_word force row level security;
create policy tenant_wall on role_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on role_word to sallyport_app;

create table root_key (
  id text not null,
  used_since timestamp with time zone not null default clock_timestamp(),
  constraint root_key_pk PRIMARY KEY (id),
  constraint root_key_id_ck CHECK (id ~ '^[0-9a-f]{16}$'::text)
);
grant select, insert, delete on root_key to sallyport_app;
grant update (used_since) on root_key to sallyport_app;

create table sandbox_assignment (
  tenant_id uuid not null,
  key text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  marked boolean not null default false,
  constraint sandbox_assignment_pk PRIMARY KEY (tenant_id, key),
  constraint sandbox_assignment_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
alter table sandbox_assignment enable row level security;
alter table sandbox_assignment force row level security;
create policy tenant_wall on sandbox_assignment
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on sandbox_assignment to sallyport_app;
CREATE TRIGGER sandbox_assignment_changed AFTER UPDATE ON sandbox_assignment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sandbox_wakes_sweep();
CREATE TRIGGER sandbox_assignment_given AFTER INSERT ON sandbox_assignment REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sandbox_wakes_sweep();
CREATE TRIGGER sandbox_assignment_taken AFTER DELETE ON sandbox_assignment REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sandbox_wakes_sweep();

create table sandbox_operation (
  tenant_id uuid not null,
  id uuid not null,
  key text not null,
  kind text not null,
  polls_left integer not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint sandbox_operation_pk PRIMARY KEY (tenant_id, id),
  constraint sandbox_operation_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sandbox_operation_kind_ck CHECK (kind = ANY (ARRAY['create'::text, 'delete'::text]))
);
alter table sandbox_operation enable row level security;
alter table sandbox_operation force row level security;
create policy tenant_wall on sandbox_operation
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on sandbox_operation to sallyport_app;

create table second_factor (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  kind text not null,
  name text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  confirmed_at timestamp with time zone,
  last_used_at timestamp with time zone,
  sealed_secrets text,
  last_step bigint,
  challenge text,
  credential_id text,
  public_key bytea,
  sign_count bigint,
  synced boolean,
  transports text[] not null default '{}'::text[],
  constraint second_factor_pk PRIMARY KEY (tenant_id, id),
  constraint second_factor_tenant_id_credential_id_uq UNIQUE (tenant_id, credential_id),
  constraint second_factor_tenant_id_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint second_factor_kind_ck CHECK (kind = ANY (ARRAY['totp'::text, 'passkey'::text])),
  constraint second_factor_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint second_factor_passkey_ck CHECK (kind <> 'passkey'::text OR confirmed_at IS NULL OR credential_id IS NOT NULL AND public_key IS NOT NULL AND sign_count IS NOT NULL AND synced IS NOT NULL),
  constraint second_factor_totp_ck CHECK (kind <> 'totp'::text OR sealed_secrets IS NOT NULL)
);
CREATE INDEX second_factor_user_ix ON second_factor USING btree (tenant_id, user_id);
alter table second_factor enable row level security;
alter table second_factor force row level security;
create policy tenant_wall on second_factor
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on second_factor to sallyport_app;
grant update (confirmed_at, last_used_at, sealed_secrets, last_step, challenge, credential_id, public_key, sign_count, synced, transports) on second_factor to sallyport_app;
CREATE TRIGGER second_factor_authority AFTER UPDATE ON second_factor FOR EACH ROW WHEN (old.confirmed_at IS DISTINCT FROM new.confirmed_at) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER second_factor_gone AFTER DELETE ON second_factor FOR EACH ROW WHEN (old.confirmed_at IS NOT NULL) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER second_factor_rehearsal BEFORE INSERT ON second_factor FOR EACH ROW EXECUTE FUNCTION rehearsal_lets_nobody_in('user_id');

create table served_id (
  tenant_id uuid not null,
  resource_type text not null,
  id_pattern text not null,
  provisioner_id uuid not null,
  id_like text not null generated always as replace(replace(replace(replace(id_pattern, '\'::text, '\\'::text), '%'::text, '\%'::text), '_'::text, '\_'::text), '*'::text, '%'::text) stored,
  precedence integer not null generated always as 
CASE
    WHEN strpos(id_pattern, '*'::text) = 0 THEN 1000
    ELSE char_length(replace(id_pattern, '*'::text, ''::text))
END stored,
  constraint served_id_pk PRIMARY KEY (tenant_id, resource_type, id_pattern),
  constraint served_id_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint served_id_id_pattern_ck CHECK (char_length(id_pattern) >= 1 AND char_length(id_pattern) <= 256 AND id_pattern !~ '\*.*\*.*\*.*\*'::text),
  constraint served_id_resource_type_ck CHECK (char_length(resource_type) >= 1 AND char_length(resource_type) <= 100)
);
CREATE INDEX served_id_provisioner_id_ix ON served_id USING btree (tenant_id, provisioner_id);
CREATE INDEX served_id_wild_ix ON served_id USING btree (tenant_id, resource_type) WHERE strpos(id_pattern, '*'::text) > 0;
alter table served_id enable row level security;
alter table served_id force row level security;
create policy tenant_wall on served_id
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on served_id to sallyport_app;

create table served_resource (
  tenant_id uuid not null,
  resource_type text not null,
  account_id text not null default ''::text,
  provisioner_id uuid not null,
  constraint served_resource_pk PRIMARY KEY (tenant_id, resource_type, account_id),
  constraint served_resource_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint served_resource_account_id_ck CHECK (account_id ~ '^([0-9]{12})?$'::text),
  constraint served_resource_resource_type_ck CHECK (char_length(resource_type) >= 1 AND char_length(resource_type) <= 100)
);
CREATE INDEX served_resource_provisioner_id_ix ON served_resource USING btree (tenant_id, provisioner_id);
alter table served_resource enable row level security;
alter table served_resource force row level security;
create policy tenant_wall on served_resource
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on served_resource to sallyport_app;
grant update (provisioner_id) on served_resource to sallyport_app;

create table setting (
  tenant_id uuid not null,
  key text not null,
  value text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint setting_pk PRIMARY KEY (tenant_id, key),
  constraint setting_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id)
);
alter table setting enable row level security;
alter table setting force row level security;
create policy tenant_wall on setting
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on setting to sallyport_app;
CREATE TRIGGER setting_authority AFTER INSERT OR UPDATE ON setting FOR EACH ROW WHEN (new.key = 'auth.second_factor_required'::text) EXECUTE FUNCTION authority_changed();

create table setup_link (
  tenant_id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null,
  expires_at timestamp with time zone not null default clock_timestamp() + '01:00:00'::interval,
  constraint setup_link_pk PRIMARY KEY (tenant_id, user_id),
  constraint setup_link_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint setup_link_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint setup_link_secret_hash_ck CHECK (octet_length(secret_hash) = 32)
);
alter table setup_link enable row level security;
alter table setup_link force row level security;
create policy tenant_wall on setup_link
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on setup_link to sallyport_app;
grant update (secret_hash, expires_at) on setup_link to sallyport_app;

create table sign_in_challenge (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null,
  passkey_challenge text,
  tries integer not null default 0,
  expires_at timestamp with time zone not null default clock_timestamp() + '00:05:00'::interval,
  source text not null default 'unknown'::text,
  constraint sign_in_challenge_pk PRIMARY KEY (tenant_id, id),
  constraint sign_in_challenge_tenant_id_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint sign_in_challenge_secret_hash_ck CHECK (octet_length(secret_hash) = 32)
);
CREATE INDEX sign_in_challenge_expires_ix ON sign_in_challenge USING btree (tenant_id, expires_at);
CREATE INDEX sign_in_challenge_user_ix ON sign_in_challenge USING btree (tenant_id, user_id);
alter table sign_in_challenge enable row level security;
alter table sign_in_challenge force row level security;
create policy tenant_wall on sign_in_challenge
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on sign_in_challenge to sallyport_app;
grant update (tries) on sign_in_challenge to sallyport_app;

create table sign_in_failure (
  tenant_id uuid not null,
  account_hash bytea not null,
  failures integer not null default 1,
  began_at timestamp with time zone not null default clock_timestamp(),
  constraint sign_in_failure_pk PRIMARY KEY (tenant_id, account_hash),
  constraint sign_in_failure_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sign_in_failure_account_hash_ck CHECK (octet_length(account_hash) = 32)
);
CREATE INDEX sign_in_failure_began_ix ON sign_in_failure USING btree (tenant_id, began_at);
alter table sign_in_failure enable row level security;
alter table sign_in_failure force row level security;
create policy tenant_wall on sign_in_failure
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on sign_in_failure to sallyport_app;
grant update (failures, began_at) on sign_in_failure to sallyport_app;

create table sign_in_setting (
  tenant_id uuid not null,
  enabled boolean not null,
  issuer text not null,
  client_id text not null,
  sealed_client_secret text,
  redirect_uris text[] not null,
  scopes text[] not null,
  version bigint not null default 1,
  updated_at timestamp with time zone not null default clock_timestamp(),
  id uuid not null default gen_random_uuid(),
  email_trust text not null default 'claim'::text,
  subject_claim text not null default 'sub'::text,
  groups_claim text,
  identity_provider_id uuid,
  constraint sign_in_setting_pk PRIMARY KEY (tenant_id),
  constraint sign_in_setting_tenant_id_id_uq UNIQUE (tenant_id, id),
  constraint sign_in_setting_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE SET NULL (identity_provider_id),
  constraint sign_in_setting_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sign_in_setting_client_id_ck CHECK (char_length(client_id) >= 1 AND char_length(client_id) <= 500),
  constraint sign_in_setting_email_trust_ck CHECK (email_trust = ANY (ARRAY['claim'::text, 'always'::text, 'never'::text])),
  constraint sign_in_setting_groups_claim_ck CHECK (char_length(groups_claim) >= 1 AND char_length(groups_claim) <= 200),
  constraint sign_in_setting_issuer_ck CHECK (char_length(issuer) >= 1 AND char_length(issuer) <= 2000),
  constraint sign_in_setting_subject_claim_ck CHECK (subject_claim = ANY (ARRAY['sub'::text, 'oid'::text]))
);
CREATE UNIQUE INDEX sign_in_setting_id_ix ON sign_in_setting USING btree (id);
CREATE INDEX sign_in_setting_identity_provider_id_ix ON sign_in_setting USING btree (tenant_id, identity_provider_id) WHERE identity_provider_id IS NOT NULL;
alter table sign_in_setting enable row level security;
alter table sign_in_setting force row level security;
create policy sign_in_setting_work on sign_in_setting for select to sallyport_work
  using (true);
create policy tenant_wall on sign_in_setting
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert on sign_in_setting to sallyport_app;
grant update (enabled, issuer, client_id, sealed_client_secret, redirect_uris, scopes, version, updated_at, email_trust, subject_claim, groups_claim, identity_provider_id) on sign_in_setting to sallyport_app;
grant select (tenant_id, enabled, id) on sign_in_setting to sallyport_work;

create table sign_in_state (
  tenant_id uuid not null,
  id uuid not null,
  issuer text not null,
  client_id text not null,
  redirect_uri text not null,
  nonce text not null,
  code_verifier text not null,
  browser_hash bytea,
  expires_at timestamp with time zone not null default clock_timestamp() + '00:10:00'::interval,
  max_age integer,
  constraint sign_in_state_pk PRIMARY KEY (tenant_id, id),
  constraint sign_in_state_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sign_in_state_browser_hash_ck CHECK (octet_length(browser_hash) = 32),
  constraint sign_in_state_max_age_ck CHECK (max_age >= 0)
);
CREATE INDEX sign_in_state_expired_ix ON sign_in_state USING btree (tenant_id, expires_at);
alter table sign_in_state enable row level security;
alter table sign_in_state force row level security;
create policy tenant_wall on sign_in_state
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on sign_in_state to sallyport_app;

create table signing_key (
  kid text not null,
  public_jwk jsonb not null,
  sealed_private_jwk text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  root_key_id text,
  signs_from timestamp with time zone not null default clock_timestamp(),
  retires_at timestamp with time zone,
  constraint signing_key_pk PRIMARY KEY (kid),
  constraint signing_key_root_key_id_fk FOREIGN KEY (root_key_id) REFERENCES root_key(id)
);
CREATE INDEX signing_key_root_key_id_ix ON signing_key USING btree (root_key_id);
grant select, insert, delete on signing_key to sallyport_app;
grant update (sealed_private_jwk, root_key_id, retires_at) on signing_key to sallyport_app;

create table standing_access (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  account_id text not null,
  permission_set_id text not null,
  principal_type text not null,
  principal_id text not null,
  entitlement_key text,
  run bigint not null,
  constraint standing_access_pk PRIMARY KEY (tenant_id, provisioner_id, account_id, permission_set_id, principal_type, principal_id),
  constraint standing_access_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint standing_access_account_id_ck CHECK (char_length(account_id) >= 1 AND char_length(account_id) <= 128),
  constraint standing_access_entitlement_key_ck CHECK (char_length(entitlement_key) <= 2000),
  constraint standing_access_permission_set_id_ck CHECK (char_length(permission_set_id) >= 1 AND char_length(permission_set_id) <= 300),
  constraint standing_access_principal_id_ck CHECK (char_length(principal_id) >= 1 AND char_length(principal_id) <= 300),
  constraint standing_access_principal_type_ck CHECK (principal_type = ANY (ARRAY['person'::text, 'group'::text]))
);
CREATE INDEX standing_access_permission_set_id_ix ON standing_access USING btree (tenant_id, provisioner_id, permission_set_id, account_id, principal_type, principal_id);
CREATE INDEX standing_access_principal_id_ix ON standing_access USING btree (tenant_id, provisioner_id, principal_type, principal_id, account_id, permission_set_id);
alter table standing_access enable row level security;
alter table standing_access force row level security;
create policy tenant_wall on standing_access
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on standing_access to sallyport_app;

create table sweep (
  tenant_id uuid not null,
  id uuid not null,
  provisioner text not null,
  provisioner_id uuid,
  idle boolean not null default false,
  swept_at timestamp with time zone not null default clock_timestamp(),
  failures integer not null default 0,
  last_error text,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  listed_epoch bigint not null default 0,
  constraint sweep_pk PRIMARY KEY (tenant_id, id),
  constraint sweep_provisioner_id_uq UNIQUE NULLS NOT DISTINCT (tenant_id, provisioner_id),
  constraint sweep_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint sweep_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sweep_provisioner_id_ck CHECK (provisioner_id IS NOT NULL OR provisioner = 'sandbox'::text)
);
CREATE INDEX sweep_due_ix ON sweep USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
alter table sweep enable row level security;
alter table sweep force row level security;
create policy sweep_work on sweep to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on sweep
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on sweep to sallyport_app;
grant select (tenant_id, id, provisioner, provisioner_id, swept_at, next_look_at, lease_until, generation, listed_epoch) on sweep to sallyport_work;
grant insert (tenant_id, id, provisioner, provisioner_id, next_look_at) on sweep to sallyport_work;
grant update (idle, next_look_at, lease_until, generation) on sweep to sallyport_work;

create table sync_group (
  tenant_id uuid not null,
  run_id uuid not null,
  source_id text not null,
  name text not null,
  absent boolean not null default false,
  group_id uuid,
  change text,
  message text,
  done boolean not null default false,
  constraint sync_group_pk PRIMARY KEY (tenant_id, run_id, source_id),
  constraint sync_group_run_id_fk FOREIGN KEY (tenant_id, run_id) REFERENCES sync_run(tenant_id, id) ON DELETE CASCADE,
  constraint sync_group_change_ck CHECK (change = ANY (ARRAY['unchanged'::text, 'add'::text, 'change'::text, 'empty'::text, 'invalid'::text])),
  constraint sync_group_source_id_ck CHECK (char_length(source_id) >= 1 AND char_length(source_id) <= 600)
);
CREATE INDEX sync_group_change_ix ON sync_group USING btree (tenant_id, run_id, change, source_id);
CREATE INDEX sync_group_due_ix ON sync_group USING btree (tenant_id, run_id, source_id) WHERE NOT done AND message IS NULL;
alter table sync_group enable row level security;
alter table sync_group force row level security;
create policy tenant_wall on sync_group
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on sync_group to sallyport_app;

create table sync_member (
  tenant_id uuid not null,
  run_id uuid not null,
  group_source_id text not null,
  person_source_id text not null,
  user_id uuid,
  constraint sync_member_pk PRIMARY KEY (tenant_id, run_id, group_source_id, person_source_id),
  constraint sync_member_group_fk FOREIGN KEY (tenant_id, run_id, group_source_id) REFERENCES sync_group(tenant_id, run_id, source_id) ON DELETE CASCADE
);
CREATE INDEX sync_member_unknown_ix ON sync_member USING btree (tenant_id, run_id, group_source_id, person_source_id) WHERE user_id IS NULL;
alter table sync_member enable row level security;
alter table sync_member force row level security;
create policy tenant_wall on sync_member
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on sync_member to sallyport_app;

create table sync_person (
  tenant_id uuid not null,
  run_id uuid not null,
  source_id text not null,
  user_name text,
  name text,
  email text,
  email_keys text[],
  mail_domain text,
  active boolean not null,
  resource jsonb,
  user_id uuid,
  change text,
  message text,
  done boolean not null default false,
  user_name_key text,
  holder_id uuid,
  constraint sync_person_pk PRIMARY KEY (tenant_id, run_id, source_id),
  constraint sync_person_run_id_fk FOREIGN KEY (tenant_id, run_id) REFERENCES sync_run(tenant_id, id) ON DELETE CASCADE,
  constraint sync_person_change_ck CHECK (change = ANY (ARRAY['unchanged'::text, 'add'::text, 'adopt'::text, 'change'::text, 'enable'::text, 'disable'::text, 'absent'::text, 'settle'::text, 'left_out'::text, 'invalid'::text])),
  constraint sync_person_source_id_ck CHECK (char_length(source_id) >= 1 AND char_length(source_id) <= 600)
);
CREATE INDEX sync_person_change_ix ON sync_person USING btree (tenant_id, run_id, change, source_id);
CREATE INDEX sync_person_due_ix ON sync_person USING btree (tenant_id, run_id, change, source_id) WHERE NOT done AND message IS NULL;
alter table sync_person enable row level security;
alter table sync_person force row level security;
create policy tenant_wall on sync_person
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on sync_person to sallyport_app;

create table sync_run (
  tenant_id uuid not null,
  id uuid not null,
  identity_provider_id uuid not null,
  status text not null default 'pending'::text,
  dry_run boolean not null default false,
  requested_by uuid,
  scheduled_for timestamp with time zone,
  config_version integer,
  confirms uuid,
  phase text,
  attempts integer not null default 0,
  people_read integer not null default 0,
  groups_read integer not null default 0,
  done integer not null default 0,
  total integer,
  counts jsonb,
  needs_confirmation boolean not null default false,
  error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  next_look_at timestamp with time zone,
  lease_until timestamp with time zone,
  generation bigint not null default 0,
  constraint sync_run_pk PRIMARY KEY (tenant_id, id),
  constraint sync_run_identity_provider_id_fk FOREIGN KEY (tenant_id, identity_provider_id) REFERENCES identity_provider(tenant_id, id) ON DELETE CASCADE,
  constraint sync_run_requested_by_fk FOREIGN KEY (tenant_id, requested_by) REFERENCES tenant_user(tenant_id, id),
  constraint sync_run_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint sync_run_error_ck CHECK ((error IS NOT NULL) = (status = 'failed'::text)),
  constraint sync_run_finished_at_ck CHECK ((finished_at IS NOT NULL) = (status = ANY (ARRAY['synced'::text, 'failed'::text]))),
  constraint sync_run_needs_confirmation_ck CHECK (NOT needs_confirmation OR status = 'failed'::text OR dry_run),
  constraint sync_run_next_look_at_ck CHECK ((finished_at IS NULL) = (next_look_at IS NOT NULL)),
  constraint sync_run_phase_ck CHECK (phase = ANY (ARRAY['reading'::text, 'people'::text, 'groups'::text])),
  constraint sync_run_status_ck CHECK (status = ANY (ARRAY['pending'::text, 'syncing'::text, 'synced'::text, 'failed'::text]))
);
CREATE INDEX sync_run_due_ix ON sync_run USING btree (next_look_at) WHERE next_look_at IS NOT NULL;
CREATE UNIQUE INDEX sync_run_one_uq ON sync_run USING btree (tenant_id, identity_provider_id) WHERE finished_at IS NULL;
CREATE INDEX sync_run_provider_ix ON sync_run USING btree (tenant_id, identity_provider_id, id);
CREATE INDEX sync_run_requested_by_ix ON sync_run USING btree (tenant_id, requested_by) WHERE requested_by IS NOT NULL;
alter table sync_run enable row level security;
alter table sync_run force row level security;
create policy sync_run_work on sync_run to sallyport_work
  using (true)
  with check (true);
create policy tenant_wall on sync_run
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on sync_run to sallyport_app;
grant select (tenant_id, id, next_look_at, lease_until, generation) on sync_run to sallyport_work;
grant update (next_look_at, lease_until, generation) on sync_run to sallyport_work;

create table target_claim (
  tenant_id uuid not null,
  provisioner_id uuid not null,
  token uuid not null,
  token_before uuid,
  epoch bigint not null,
  beat_at timestamp with time zone not null,
  held_since timestamp with time zone not null default clock_timestamp(),
  contested_at timestamp with time zone,
  holder jsonb,
  constraint target_claim_pk PRIMARY KEY (tenant_id, provisioner_id),
  constraint target_claim_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint target_claim_holder_ck CHECK ((contested_at IS NULL) = (holder IS NULL))
);
CREATE INDEX target_claim_contested_ix ON target_claim USING btree (tenant_id, provisioner_id) WHERE contested_at IS NOT NULL;
alter table target_claim enable row level security;
alter table target_claim force row level security;
create policy target_claim_work on target_claim for select to sallyport_work
  using (true);
create policy tenant_wall on target_claim
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on target_claim to sallyport_app;
grant select (tenant_id, provisioner_id, contested_at) on target_claim to sallyport_work;

create table tenant (
  id uuid not null,
  name text not null,
  rule_set_version bigint not null default 1,
  created_at timestamp with time zone not null default clock_timestamp(),
  mode text not null default 'rehearsal'::text,
  live_since timestamp with time zone,
  slug text,
  suspended_at timestamp with time zone,
  suspended_reason text,
  deleting_since timestamp with time zone,
  constraint tenant_pk PRIMARY KEY (id),
  constraint tenant_slug_uq UNIQUE (slug),
  constraint tenant_deleting_since_ck CHECK (deleting_since IS NULL OR suspended_at IS NOT NULL),
  constraint tenant_live_since_ck CHECK ((mode = 'live'::text) = (live_since IS NOT NULL)),
  constraint tenant_mode_ck CHECK (mode = ANY (ARRAY['rehearsal'::text, 'live'::text])),
  constraint tenant_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint tenant_slug_ck CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text),
  constraint tenant_slug_not_uuid_ck CHECK (slug !~ '^[0-9a-f]{8}(-?[0-9a-f]{4}){4}[0-9a-f]{8}$'::text),
  constraint tenant_suspended_ck CHECK (suspended_reason IS NULL OR suspended_at IS NOT NULL),
  constraint tenant_suspended_reason_ck CHECK (char_length(suspended_reason) >= 1 AND char_length(suspended_reason) <= 500)
);
alter table tenant enable row level security;
alter table tenant force row level security;
create policy tenant_being_deleted on tenant as restrictive to sallyport_app, sallyport_work
  using (deleting_since IS NULL);
create policy tenant_wall on tenant
  using (id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
create policy tenant_work on tenant for select to sallyport_work
  using (true);
grant select, insert on tenant to sallyport_app;
grant update (name, rule_set_version, mode, live_since, slug, suspended_at, suspended_reason) on tenant to sallyport_app;
grant select (id, mode, slug) on tenant to sallyport_work;
CREATE CONSTRAINT TRIGGER live_without_rehearsal AFTER UPDATE ON tenant DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.mode <> 'live'::text AND new.mode = 'live'::text) EXECUTE FUNCTION live_without_rehearsal();
CREATE TRIGGER tenant_authority AFTER UPDATE ON tenant FOR EACH ROW WHEN (old.mode <> new.mode OR (old.suspended_at IS NULL) <> (new.suspended_at IS NULL)) EXECUTE FUNCTION tenant_authority_changed();
CREATE TRIGGER tenant_mode BEFORE UPDATE ON tenant FOR EACH ROW WHEN (old.mode = 'live'::text AND new.mode <> 'live'::text) EXECUTE FUNCTION tenant_stays_live();

create table tenant_group (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default ''::text,
  source text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  name_key text not null generated always as sort_key(name) stored,
  sign_in_provider_id uuid,
  members_notified boolean not null default true,
  constraint tenant_group_pk PRIMARY KEY (tenant_id, id),
  constraint tenant_group_sign_in_provider_id_fk FOREIGN KEY (tenant_id, sign_in_provider_id) REFERENCES sign_in_setting(tenant_id, id),
  constraint tenant_group_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint tenant_group_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint tenant_group_sign_in_provider_id_ck CHECK (sign_in_provider_id IS NULL OR source = 'identity_provider'::text),
  constraint tenant_group_source_ck CHECK (source = ANY (ARRAY['local'::text, 'scim'::text, 'identity_provider'::text]))
);
CREATE INDEX tenant_group_created_at_ix ON tenant_group USING btree (tenant_id, created_at, id);
CREATE INDEX tenant_group_name_ix ON tenant_group USING btree (tenant_id, name_key, id);
CREATE INDEX tenant_group_sign_in_provider_id_ix ON tenant_group USING btree (tenant_id, sign_in_provider_id) WHERE sign_in_provider_id IS NOT NULL;
CREATE INDEX tenant_group_source_created_at_ix ON tenant_group USING btree (tenant_id, source, created_at, id);
CREATE INDEX tenant_group_source_ix ON tenant_group USING btree (tenant_id, source, id);
CREATE INDEX tenant_group_source_name_ix ON tenant_group USING btree (tenant_id, source, name_key, id);
alter table tenant_group enable row level security;
alter table tenant_group force row level security;
create policy tenant_wall on tenant_group
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on tenant_group to sallyport_app;
grant update (name, description, source, updated_at, members_notified) on tenant_group to sallyport_app;
CREATE TRIGGER tenant_group_words AFTER INSERT ON tenant_group REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tenant_group_words();
CREATE TRIGGER tenant_group_words_change AFTER UPDATE ON tenant_group FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name) EXECUTE FUNCTION tenant_group_words_change();

create table tenant_key (
  tenant_id uuid not null,
  version integer not null,
  root_key_id text not null,
  wrapped_key text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint tenant_key_pk PRIMARY KEY (tenant_id, version),
  constraint tenant_key_root_key_id_fk FOREIGN KEY (root_key_id) REFERENCES root_key(id),
  constraint tenant_key_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint tenant_key_version_ck CHECK (version > 0)
);
CREATE INDEX tenant_key_root_key_id_ix ON tenant_key USING btree (root_key_id);
alter table tenant_key enable row level security;
alter table tenant_key force row level security;
create policy tenant_key_work on tenant_key for select to sallyport_work
  using (true);
create policy tenant_wall on tenant_key
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on tenant_key to sallyport_app;
grant update (root_key_id, wrapped_key) on tenant_key to sallyport_app;
grant select (tenant_id, root_key_id) on tenant_key to sallyport_work;

create table tenant_mail_domain (
  tenant_id uuid not null,
  domain text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint tenant_mail_domain_pk PRIMARY KEY (tenant_id, domain),
  constraint tenant_mail_domain_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint tenant_mail_domain_domain_ck CHECK (length(domain) <= 253 AND domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$'::text)
);
CREATE INDEX tenant_mail_domain_domain_ix ON tenant_mail_domain USING btree (domain);
alter table tenant_mail_domain enable row level security;
alter table tenant_mail_domain force row level security;
create policy tenant_mail_domain_work on tenant_mail_domain for select to sallyport_work
  using (true);
create policy tenant_wall on tenant_mail_domain
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on tenant_mail_domain to sallyport_app;
grant select (tenant_id, domain) on tenant_mail_domain to sallyport_work;

create table tenant_user (
  tenant_id uuid not null,
  id uuid not null,
  email text not null,
  email_key text not null,
  name text not null,
  auth_provider text not null,
  active boolean not null default true,
  email_verified boolean not null default false,
  is_owner boolean not null default false,
  avatar_base64 text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  first_name text,
  last_name text,
  display_name text,
  locale text,
  timezone text,
  date_format text,
  time_format text,
  deleted_at timestamp with time zone,
  issuer text,
  subject text,
  suspended_until timestamp with time zone,
  listed_at timestamp with time zone generated always as 
CASE
    WHEN deleted_at IS NULL THEN created_at
    ELSE NULL::timestamp with time zone
END stored,
  name_key text generated always as 
CASE
    WHEN deleted_at IS NULL THEN sort_key(name)
    ELSE NULL::text
END stored,
  rehearsal text,
  mail_choices jsonb not null default '{}'::jsonb,
  department text,
  title text,
  manager_id uuid,
  facts_set_by uuid,
  facts_set_at timestamp with time zone,
  constraint tenant_user_pk PRIMARY KEY (tenant_id, id),
  constraint tenant_user_facts_set_by_fk FOREIGN KEY (tenant_id, facts_set_by) REFERENCES tenant_user(tenant_id, id) ON DELETE SET NULL (facts_set_by) DEFERRABLE,
  constraint tenant_user_manager_id_fk FOREIGN KEY (tenant_id, manager_id) REFERENCES tenant_user(tenant_id, id) ON DELETE SET NULL (manager_id) DEFERRABLE,
  constraint tenant_user_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint tenant_user_auth_provider_ck CHECK (auth_provider = ANY (ARRAY['local'::text, 'oidc'::text, 'saml'::text])),
  constraint tenant_user_date_format_ck CHECK (date_format = ANY (ARRAY['YYYY-MM-DD'::text, 'MM/DD/YYYY'::text, 'DD/MM/YYYY'::text])),
  constraint tenant_user_deleted_ck CHECK (deleted_at IS NULL OR NOT active AND NOT is_owner),
  constraint tenant_user_department_ck CHECK (char_length(department) >= 1 AND char_length(department) <= 200 AND department !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]'::text),
  constraint tenant_user_display_name_ck CHECK (char_length(display_name) >= 1 AND char_length(display_name) <= 100),
  constraint tenant_user_email_ck CHECK (char_length(email) >= 3 AND char_length(email) <= 254),
  constraint tenant_user_first_name_ck CHECK (char_length(first_name) >= 1 AND char_length(first_name) <= 100),
  constraint tenant_user_last_name_ck CHECK (char_length(last_name) >= 1 AND char_length(last_name) <= 100),
  constraint tenant_user_locale_ck CHECK (char_length(locale) >= 1 AND char_length(locale) <= 100),
  constraint tenant_user_mail_choices_ck CHECK (jsonb_typeof(mail_choices) = 'object'::text),
  constraint tenant_user_manager_id_ck CHECK (manager_id <> id),
  constraint tenant_user_name_ck CHECK (char_length(name) >= 1 AND char_length(name) <= 200),
  constraint tenant_user_rehearsal_ck CHECK (rehearsal IS NULL OR NOT is_owner AND auth_provider = 'local'::text AND email_key ~~ '%.invalid'::text),
  constraint tenant_user_subject_ck CHECK ((issuer IS NULL) = (subject IS NULL) AND (subject IS NULL OR auth_provider = 'oidc'::text)),
  constraint tenant_user_time_format_ck CHECK (time_format = ANY (ARRAY['12h'::text, '24h'::text])),
  constraint tenant_user_timezone_ck CHECK (char_length(timezone) >= 1 AND char_length(timezone) <= 100),
  constraint tenant_user_title_ck CHECK (char_length(title) >= 1 AND char_length(title) <= 200 AND title !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]'::text)
);
CREATE INDEX tenant_user_active_ix ON tenant_user USING btree (tenant_id, active, listed_at, id);
CREATE INDEX tenant_user_active_name_ix ON tenant_user USING btree (tenant_id, active, name_key, id);
CREATE INDEX tenant_user_auth_provider_ix ON tenant_user USING btree (tenant_id, auth_provider, listed_at, id);
CREATE INDEX tenant_user_auth_provider_name_ix ON tenant_user USING btree (tenant_id, auth_provider, name_key, id);
CREATE UNIQUE INDEX tenant_user_email_key_uq ON tenant_user USING btree (tenant_id, email_key) WHERE deleted_at IS NULL;
CREATE INDEX tenant_user_external_id_ix ON tenant_user USING btree (tenant_id, subject) WHERE subject IS NOT NULL;
CREATE INDEX tenant_user_facts_set_by_ix ON tenant_user USING btree (tenant_id, facts_set_by) WHERE facts_set_by IS NOT NULL;
CREATE UNIQUE INDEX tenant_user_issuer_subject_uq ON tenant_user USING btree (tenant_id, issuer, subject) WHERE deleted_at IS NULL;
CREATE INDEX tenant_user_listed_at_ix ON tenant_user USING btree (tenant_id, listed_at, id);
CREATE INDEX tenant_user_manager_id_ix ON tenant_user USING btree (tenant_id, manager_id) WHERE manager_id IS NOT NULL;
CREATE INDEX tenant_user_name_ix ON tenant_user USING btree (tenant_id, name_key, id);
CREATE UNIQUE INDEX tenant_user_rehearsal_uq ON tenant_user USING btree (tenant_id, rehearsal) WHERE rehearsal IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX tenant_user_subject_ix ON tenant_user USING btree (issuer, subject) WHERE subject IS NOT NULL;
CREATE INDEX tenant_user_suspended_ix ON tenant_user USING btree (tenant_id, listed_at, id) WHERE suspended_until IS NOT NULL;
CREATE INDEX tenant_user_suspended_name_ix ON tenant_user USING btree (tenant_id, name_key, id) WHERE suspended_until IS NOT NULL;
alter table tenant_user enable row level security;
alter table tenant_user force row level security;
create policy tenant_wall on tenant_user
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update on tenant_user to sallyport_app;
CREATE TRIGGER tenant_user_authority AFTER UPDATE ON tenant_user FOR EACH ROW WHEN (old.active IS DISTINCT FROM new.active OR old.deleted_at IS DISTINCT FROM new.deleted_at OR old.suspended_until IS DISTINCT FROM new.suspended_until) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER tenant_user_deleted BEFORE UPDATE ON tenant_user FOR EACH ROW WHEN (old.deleted_at IS NOT NULL) EXECUTE FUNCTION deleted_user_stays();
CREATE TRIGGER tenant_user_facts BEFORE UPDATE ON tenant_user FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND (old.department IS DISTINCT FROM new.department OR old.title IS DISTINCT FROM new.title OR old.manager_id IS DISTINCT FROM new.manager_id)) EXECUTE FUNCTION tenant_user_facts();
CREATE TRIGGER tenant_user_rehearsal_stays BEFORE UPDATE OF rehearsal ON tenant_user FOR EACH ROW WHEN (old.rehearsal IS DISTINCT FROM new.rehearsal) EXECUTE FUNCTION rehearsal_mark_stays();
CREATE TRIGGER tenant_user_words AFTER INSERT ON tenant_user REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tenant_user_words();
CREATE TRIGGER tenant_user_words_change AFTER UPDATE ON tenant_user FOR EACH ROW WHEN (old.name IS DISTINCT FROM new.name OR old.email IS DISTINCT FROM new.email OR old.deleted_at IS DISTINCT FROM new.deleted_at) EXECUTE FUNCTION tenant_user_words_change();

create table unknown_sign_in_failure (
  account_hash bytea not null,
  failures integer not null default 1,
  began_at timestamp with time zone not null default clock_timestamp(),
  constraint unknown_sign_in_failure_pk PRIMARY KEY (account_hash),
  constraint unknown_sign_in_failure_account_hash_ck CHECK (octet_length(account_hash) = 32)
);
CREATE INDEX unknown_sign_in_failure_began_ix ON unknown_sign_in_failure USING btree (began_at);
grant select, insert, delete on unknown_sign_in_failure to sallyport_app;
grant update (failures, began_at) on unknown_sign_in_failure to sallyport_app;

create table user_fact_version (
  tenant_id uuid not null,
  user_id uuid not null,
  fact text not null,
  number integer not null,
  value text,
  set_by uuid,
  set_at timestamp with time zone not null,
  constraint user_fact_version_pk PRIMARY KEY (tenant_id, user_id, fact, number),
  constraint user_fact_version_set_by_fk FOREIGN KEY (tenant_id, set_by) REFERENCES tenant_user(tenant_id, id),
  constraint user_fact_version_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint user_fact_version_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint user_fact_version_fact_ck CHECK (fact = ANY (ARRAY['department'::text, 'title'::text, 'manager'::text]))
);
CREATE INDEX user_fact_version_set_by_ix ON user_fact_version USING btree (tenant_id, set_by);
alter table user_fact_version enable row level security;
alter table user_fact_version force row level security;
create policy tenant_wall on user_fact_version
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on user_fact_version to sallyport_app;

create table user_password (
  tenant_id uuid not null,
  user_id uuid not null,
  hash text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  constraint user_password_pk PRIMARY KEY (tenant_id, user_id),
  constraint user_password_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint user_password_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id)
);
alter table user_password enable row level security;
alter table user_password force row level security;
create policy tenant_wall on user_password
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, update, delete on user_password to sallyport_app;
CREATE TRIGGER user_password_rehearsal BEFORE INSERT ON user_password FOR EACH ROW EXECUTE FUNCTION rehearsal_lets_nobody_in('user_id');

create table user_role (
  tenant_id uuid not null,
  user_id uuid not null,
  role_id text not null,
  granted_by uuid,
  granted_at timestamp with time zone not null default clock_timestamp(),
  constraint user_role_pk PRIMARY KEY (tenant_id, user_id, role_id),
  constraint user_role_granted_by_fk FOREIGN KEY (tenant_id, granted_by) REFERENCES tenant_user(tenant_id, id),
  constraint user_role_role_id_fk FOREIGN KEY (tenant_id, role_id) REFERENCES role(tenant_id, id),
  constraint user_role_tenant_id_fk FOREIGN KEY (tenant_id) REFERENCES tenant(id),
  constraint user_role_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id)
);
CREATE INDEX user_role_granted_by_ix ON user_role USING btree (tenant_id, granted_by);
CREATE INDEX user_role_role_id_ix ON user_role USING btree (tenant_id, role_id, user_id);
alter table user_role enable row level security;
alter table user_role force row level security;
create policy tenant_wall on user_role
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on user_role to sallyport_app;
CREATE TRIGGER user_role_authority AFTER INSERT OR DELETE OR UPDATE ON user_role FOR EACH ROW EXECUTE FUNCTION authority_changed();
CREATE TRIGGER user_role_ended AFTER DELETE ON user_role REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION user_role_ended();

create table user_session (
  tenant_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  amr text[] not null,
  auth_time timestamp with time zone not null,
  provider text,
  provider_sub_hash bytea,
  provider_sid_hash bytea,
  source_ip text not null,
  user_agent text,
  created_at timestamp with time zone not null default clock_timestamp(),
  last_used_at timestamp with time zone not null default clock_timestamp(),
  cookie_hash bytea,
  idle_seconds integer,
  ends_at timestamp with time zone not null,
  live_until timestamp with time zone not null,
  family_hash bytea,
  refresh_hash bytea,
  former_refresh_hash bytea,
  successor_salt bytea,
  refreshed_at timestamp with time zone,
  refreshed_from text,
  constraint user_session_pk PRIMARY KEY (tenant_id, id),
  constraint user_session_tenant_id_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id),
  constraint user_session_cookie_hash_ck CHECK (octet_length(cookie_hash) = 32),
  constraint user_session_family_hash_ck CHECK (octet_length(family_hash) = 32),
  constraint user_session_former_refresh_hash_ck CHECK (octet_length(former_refresh_hash) = 32),
  constraint user_session_idle_seconds_ck CHECK (idle_seconds > 0),
  constraint user_session_live_until_ck CHECK (live_until <= ends_at),
  constraint user_session_provider_ck CHECK (provider IS NOT NULL OR provider_sub_hash IS NULL AND provider_sid_hash IS NULL),
  constraint user_session_provider_sid_hash_ck CHECK (octet_length(provider_sid_hash) = 32),
  constraint user_session_provider_sub_hash_ck CHECK (octet_length(provider_sub_hash) = 32),
  constraint user_session_refresh_ck CHECK ((num_nulls(family_hash, refresh_hash) = ANY (ARRAY[0, 2])) AND (family_hash IS NULL OR cookie_hash IS NULL AND idle_seconds IS NOT NULL)),
  constraint user_session_refresh_hash_ck CHECK (octet_length(refresh_hash) = 32),
  constraint user_session_refreshed_ck CHECK ((num_nulls(former_refresh_hash, successor_salt, refreshed_at, refreshed_from) = ANY (ARRAY[0, 4])) AND (refreshed_at IS NULL OR family_hash IS NOT NULL)),
  constraint user_session_successor_salt_ck CHECK (octet_length(successor_salt) = 32)
);
CREATE INDEX user_session_live_until_ix ON user_session USING btree (tenant_id, live_until);
CREATE INDEX user_session_provider_sid_ix ON user_session USING btree (provider, provider_sid_hash) WHERE provider IS NOT NULL;
CREATE INDEX user_session_provider_sub_ix ON user_session USING btree (provider, provider_sub_hash) WHERE provider IS NOT NULL;
CREATE INDEX user_session_user_ix ON user_session USING btree (tenant_id, user_id, id);
alter table user_session enable row level security;
alter table user_session force row level security;
create policy tenant_wall on user_session
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
create policy user_session_work on user_session for select to sallyport_work
  using (true);
grant select, insert, delete on user_session to sallyport_app;
grant update (last_used_at, cookie_hash, idle_seconds, ends_at, live_until, family_hash, refresh_hash, former_refresh_hash, successor_salt, refreshed_at, refreshed_from) on user_session to sallyport_app;
grant select (tenant_id, id, provider, provider_sub_hash, provider_sid_hash) on user_session to sallyport_work;
CREATE TRIGGER user_session_gone AFTER DELETE ON user_session FOR EACH ROW WHEN (old.live_until > clock_timestamp()) EXECUTE FUNCTION authority_changed();
CREATE TRIGGER user_session_rehearsal BEFORE UPDATE OF cookie_hash, family_hash ON user_session FOR EACH ROW WHEN (new.cookie_hash IS NOT NULL OR new.family_hash IS NOT NULL) EXECUTE FUNCTION rehearsal_lets_nobody_in('user_id');

create table user_word (
  tenant_id uuid not null,
  user_id uuid not null,
  word text not null,
  constraint user_word_pk PRIMARY KEY (tenant_id, user_id, word),
  constraint user_word_user_id_fk FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_user(tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX user_word_word_ix ON user_word USING btree (tenant_id, word, user_id);
alter table user_word enable row level security;
alter table user_word force row level security;
create policy tenant_wall on user_word
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on user_word to sallyport_app;

create table webhook_act (
  tenant_id uuid not null,
  id uuid not null,
  provisioner_id uuid not null,
  target_key text not null,
  kind text not null,
  until timestamp with time zone,
  begun_at timestamp with time zone not null default clock_timestamp(),
  reference text,
  outcome text,
  message text,
  connect text,
  constraint webhook_act_pk PRIMARY KEY (tenant_id, id),
  constraint webhook_act_target_key_uq UNIQUE (tenant_id, provisioner_id, target_key),
  constraint webhook_act_provisioner_id_fk FOREIGN KEY (tenant_id, provisioner_id) REFERENCES provisioner(tenant_id, id) ON DELETE CASCADE,
  constraint webhook_act_connect_ck CHECK (char_length(connect) <= 8000),
  constraint webhook_act_kind_ck CHECK (kind = ANY (ARRAY['grant'::text, 'revoke'::text])),
  constraint webhook_act_message_ck CHECK (char_length(message) <= 500),
  constraint webhook_act_outcome_ck CHECK (outcome = ANY (ARRAY['done'::text, 'failed'::text])),
  constraint webhook_act_reference_ck CHECK (char_length(reference) >= 1 AND char_length(reference) <= 200),
  constraint webhook_act_until_ck CHECK ((kind = 'grant'::text) = (until IS NOT NULL))
);
alter table webhook_act enable row level security;
alter table webhook_act force row level security;
create policy tenant_wall on webhook_act
  using (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid)
  with check (tenant_id = NULLIF(current_setting('app.tenant_id'::text, true), ''::text)::uuid);
grant select, insert, delete on webhook_act to sallyport_app;
grant update (id, kind, until, begun_at, reference, outcome, message, connect) on webhook_act to sallyport_app;

CREATE OR REPLACE FUNCTION public.access_grant_served()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.served_by := (select coalesce(e.provisioner_id::text, e.provisioner) from entitlement e
    where e.tenant_id = new.tenant_id and e.id = new.entitlement_id);
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.access_grant_steps()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.step_since := clock_timestamp();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.access_grant_unforeseen()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform nextval('unforeseen_grant_step');
  raise log 'sallyport: grant % of tenant % goes from %/% to %/%, which its life cycle does not foresee',
    old.id, old.tenant_id, old.status, old.provisioning_status, new.status, new.provisioning_status;
  if new.status in ('pending', 'active') or (old.status <> new.status and old.status not in ('pending', 'active')) then
    raise exception 'a grant does not go from %/% to %/%',
      old.status, old.provisioning_status, new.status, new.provisioning_status
      using errcode = 'restrict_violation', constraint = 'access_grant_transition';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.access_grant_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into grant_word (tenant_id, grant_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action))) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.access_request_extends()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'what a request extends never changes'
    using errcode = 'restrict_violation', constraint = 'access_request_extends';
end
$function$;

CREATE OR REPLACE FUNCTION public.access_request_moves()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a decided request is never decided again' using errcode = 'restrict_violation', constraint = 'access_request_decided';
end
$function$;

CREATE OR REPLACE FUNCTION public.access_request_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into request_word (tenant_id, request_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', resource_id, action, reason))) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.action_description_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into action_word (tenant_id, action, word)
    select tenant_id, action, unnest(search_words(action || ' ' || description)) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.action_description_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from action_word where tenant_id = new.tenant_id and action = new.action;
  insert into action_word (tenant_id, action, word)
    select new.tenant_id, new.action, unnest(search_words(new.action || ' ' || new.description));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.add_event_quarters(first date, quarters integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  lacking date[];
  quarter date;
  name text;
  lowest uuid;
  above uuid;
  moving event_default[];
begin
  select array_agg(q.quarter order by q.quarter) into lacking
    from (select (date_trunc('quarter', first::timestamp) + make_interval(months => 3 * n))::date as quarter
      from generate_series(0, quarters - 1) n) q
    where to_regclass('public.event_' || to_char(q.quarter, 'YYYY"_q"Q')) is null;
  if lacking is null then return 0; end if;
  lowest := event_id_at(lacking[1]::timestamp at time zone 'UTC');
  above := event_id_at((lacking[cardinality(lacking)] + interval '3 months') at time zone 'UTC');
  lock table event, event_default in access exclusive mode;
  -- Forced row-level security would show the owner no row.
  alter table event_default no force row level security;
  -- Tenant by tenant, since the key begins with the tenant: a look at each, and none at the other rows.
  with recursive known (tenant_id) as (
      (select e.tenant_id from event_default e order by e.tenant_id limit 1)
      union all select (select e.tenant_id from event_default e where e.tenant_id > known.tenant_id
        order by e.tenant_id limit 1)
      from known where known.tenant_id is not null)
    select array_agg(stray.e) into moving from known cross join lateral (
      select e from event_default e where e.tenant_id = known.tenant_id and e.id >= lowest and e.id < above offset 0) stray;
  if moving is not null then
    alter table event_default disable trigger event_leaves;
    delete from event_default e using unnest(moving) m where e.tenant_id = m.tenant_id and e.id = m.id;
    alter table event_default enable trigger event_leaves;
  end if;
  alter table event_default force row level security;
  -- One look at the default partition for all of them. With this, attaching a quarter needs none of its own.
  execute format('alter table event_default add constraint event_default_ck check (id < %L or id >= %L)', lowest, above);
  foreach quarter in array lacking loop
    name := 'event_' || to_char(quarter, 'YYYY"_q"Q');
    lowest := event_id_at(quarter::timestamp at time zone 'UTC');
    above := event_id_at((quarter + interval '3 months') at time zone 'UTC');
    execute format('create table public.%I (like event including defaults including constraints)', name);
    execute format('insert into public.%I select m.* from unnest($1) m where m.id >= %L and m.id < %L', name, lowest, above)
      using moving;
    execute format('alter table public.%I enable row level security, force row level security', name);
    execute format('create trigger event_append_only before update or truncate on public.%I for each statement '
      'execute function event_is_append_only()', name);
    execute format('alter table event attach partition public.%I for values from (%L) to (%L)', name, lowest, above);
  end loop;
  alter table event_default drop constraint event_default_ck;
  return cardinality(lacking);
end
$function$;

CREATE OR REPLACE FUNCTION public.api_key_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into api_key_word (tenant_id, api_key_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.authority_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('sallyport_authority', coalesce(new.tenant_id, old.tenant_id)::text);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.clock_back_ms()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$select i.clock_back_ms from installation i$function$;

CREATE OR REPLACE FUNCTION public.cloud_account_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into cloud_account_word (tenant_id, entry_id, word)
    select tenant_id, id, unnest(search_words(concat_ws(' ', name, account_id, id))) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.cloud_account_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from cloud_account_word where tenant_id = new.tenant_id and entry_id = new.id;
  insert into cloud_account_word (tenant_id, entry_id, word)
    select new.tenant_id, new.id, unnest(search_words(concat_ws(' ', new.name, new.account_id, new.id)));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.deleted_user_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a deleted user never changes again' using errcode = 'restrict_violation', constraint = 'tenant_user_deleted';
end
$function$;

CREATE OR REPLACE FUNCTION public.entitlement_drifted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update access_grant g set drifted = coalesce(new.drift = 'removed', false)
    where g.tenant_id = new.tenant_id and g.entitlement_id = new.id and g.status = 'active';
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.entitlement_served()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update access_grant g set served_by = new.provisioner_id::text
    where g.tenant_id = new.tenant_id and g.entitlement_id = new.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.event_has_its_tenant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if not exists (select from tenant t where t.id = new.tenant_id and t.deleting_since is null) then
    raise exception 'the tenant is being deleted' using errcode = 'restrict_violation', constraint = 'event_has_its_tenant';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.event_id_at(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 STABLE
RETURN ((lpad(to_hex((floor((EXTRACT(epoch FROM moment) * (1000)::numeric)))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid;

CREATE OR REPLACE FUNCTION public.event_is_append_only()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'events are never changed or deleted' using errcode = 'restrict_violation', constraint = 'event_append_only';
end
$function$;

CREATE OR REPLACE FUNCTION public.group_member_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into past_gift (tenant_id, user_id, group_id, given_by, given_at, since, ended_at)
    select tenant_id, user_id, group_id, added_by, coalesce(given_at, created_at),
      case when given_at is not null then created_at end, least(clock_timestamp(), expires_at)
    from gone;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.group_member_given_again()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into past_gift (tenant_id, user_id, group_id, given_by, given_at, since)
    values (old.tenant_id, old.user_id, old.group_id, old.added_by, coalesce(old.given_at, old.created_at), old.created_at);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.group_role_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into past_gift (tenant_id, group_id, role_id, given_by, given_at)
    select tenant_id, group_id, role_id, mapped_by, mapped_at from gone;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.leaves_with_its_tenant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from tenant t where t.id = old.tenant_id and t.deleting_since is not null) then
    return old;
  end if;
  raise exception '%', tg_argv[1] using errcode = 'restrict_violation', constraint = tg_argv[0];
end
$function$;

CREATE OR REPLACE FUNCTION public.live_without_rehearsal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from tenant_user u
        where u.tenant_id = new.id and u.rehearsal is not null and u.deleted_at is null)
      or exists (select from policy p where p.tenant_id = new.id and p.rehearsal is not null)
      or exists (select from cloud_account c where c.tenant_id = new.id and c.rehearsal is not null) then
    raise exception 'a tenant goes live without its rehearsal'
      using errcode = 'restrict_violation', constraint = 'live_without_rehearsal';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.policy_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into policy_word (tenant_id, policy_id, word)
    select tenant_id, id, unnest(search_words(name || ' ' || description)) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.policy_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from policy_word where tenant_id = new.tenant_id and policy_id = new.id;
  insert into policy_word (tenant_id, policy_id, word)
    select new.tenant_id, new.id, unnest(search_words(new.name || ' ' || new.description));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.rehearsal_lets_nobody_in()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from tenant_user u where u.tenant_id = new.tenant_id
      and u.id = (to_jsonb(new) ->> tg_argv[0])::uuid and u.rehearsal is not null) then
    raise exception 'a person of the rehearsal has no way to sign in'
      using errcode = 'restrict_violation', constraint = 'rehearsal_lets_nobody_in';
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.rehearsal_mark_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'whether the rehearsal made a user never changes'
    using errcode = 'restrict_violation', constraint = 'tenant_user_rehearsal_stays';
end
$function$;

CREATE OR REPLACE FUNCTION public.request_comment_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'comments are never changed or deleted' using errcode = 'restrict_violation', constraint = 'request_comment_stays';
end
$function$;

CREATE OR REPLACE FUNCTION public.role_added_scope_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into past_gift (tenant_id, role_id, given_by, given_at)
    select tenant_id, role_id, added_by, added_at from gone;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.role_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into role_word (tenant_id, role_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.role_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from role_word where tenant_id = new.tenant_id and role_id = new.id;
  insert into role_word (tenant_id, role_id, word) select new.tenant_id, new.id, unnest(search_words(new.name));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.sandbox_wakes_sweep()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update sweep s set idle = false,
      next_look_at = coalesce(s.next_look_at, clock_timestamp() + interval '240 seconds' - random() * interval '30 seconds'),
      swept_at = case when s.next_look_at is null then clock_timestamp() else s.swept_at end
    from (
      select w.tenant_id, w.id from sweep w
      where w.tenant_id = any(array(select distinct c.tenant_id from changed c)) and w.provisioner = 'sandbox'
        and (w.idle or w.next_look_at is null)
      order by w.tenant_id, w.id for no key update) woken
    where s.tenant_id = woken.tenant_id and s.id = woken.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.search_words(text)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(array_agg(word order by place), '{}')
  from (
    select left(word, 64) as word, min(place) as place
    from regexp_split_to_table(
      lower(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]', '', 'g')),
      '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u2000-\u206f\u3000-\u303f]+') with ordinality as t (word, place)
    where word <> '' group by 1 order by 2 limit 64) as words
$function$;

CREATE OR REPLACE FUNCTION public.sort_key(text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select left(lower(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]', '', 'g')), 200)
$function$;

CREATE OR REPLACE FUNCTION public.system_role_is_fixed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a system role is never changed or deleted' using errcode = 'restrict_violation', constraint = 'role_system_fixed';
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_authority_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('sallyport_authority', new.id::text);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_group_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into group_word (tenant_id, group_id, word) select tenant_id, id, unnest(search_words(name)) from made;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_group_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from group_word where tenant_id = new.tenant_id and group_id = new.id;
  insert into group_word (tenant_id, group_id, word) select new.tenant_id, new.id, unnest(search_words(new.name));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_stays_live()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a live tenant does not go back' using errcode = 'check_violation', constraint = 'tenant_stays_live';
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_user_facts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed record;
begin
  new.facts_set_at := clock_timestamp();
  for changed in
    select one.fact, one.before, one.after
    from (values ('department', old.department, new.department), ('title', old.title, new.title),
      ('manager', old.manager_id::text, new.manager_id::text)) as one (fact, before, after)
    where one.before is distinct from one.after
  loop
    if new.facts_set_by is null then
      -- The word of the directory counts for every request, whatever was said before.
      delete from user_fact_version v
        where v.tenant_id = new.tenant_id and v.user_id = new.id and v.fact = changed.fact;
      continue;
    end if;
    insert into user_fact_version (tenant_id, user_id, fact, number, value, set_by, set_at)
      values (new.tenant_id, new.id, changed.fact, 0, changed.before, null, '-infinity')
      on conflict do nothing;
    insert into user_fact_version (tenant_id, user_id, fact, number, value, set_by, set_at)
      select new.tenant_id, new.id, changed.fact, max(v.number) + 1, changed.after, new.facts_set_by, new.facts_set_at
      from user_fact_version v where v.tenant_id = new.tenant_id and v.user_id = new.id and v.fact = changed.fact;
  end loop;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_user_words()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into user_word (tenant_id, user_id, word)
    select tenant_id, id, unnest(search_words(name || ' ' || email)) from made where deleted_at is null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.tenant_user_words_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from user_word where tenant_id = new.tenant_id and user_id = new.id;
  insert into user_word (tenant_id, user_id, word)
    select new.tenant_id, new.id, unnest(search_words(new.name || ' ' || new.email)) where new.deleted_at is null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.user_role_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into past_gift (tenant_id, user_id, role_id, given_by, given_at)
    select tenant_id, user_id, role_id, granted_by, granted_at from gone;
  return null;
end
$function$;
