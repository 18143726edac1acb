import { sql } from '../db/sql.ts'
import type { UnrestrictedTx } from '../db/transaction.ts'
import { emit } from '../events/emit.ts'
import { isEmpty, type MappingChange, mappingFact } from '../groups/group-mapping.ts'
import { mappingsAsJson } from '../groups/group-mapping-store.ts'
import type { Sealer, Statement, Tx, WorkCtx } from '../kernel/context.ts'
import { newId } from '../kernel/id.ts'
import { type CheckedSignIn, type StoredSignIn, shownSignIn, type WholeSignIn } from './sign-in-setting.ts'

const columns = sql`id, enabled, issuer, client_id, sealed_client_secret, redirect_uris, scopes, email_trust,
  subject_claim, groups_claim, identity_provider_id, version, updated_at`

/** Undefined when the tenant has set none, or there is no such tenant. */
export async function findSignInSetting(tx: Tx): Promise<StoredSignIn | undefined> {
  const [found] = await tx.read(
    sql<StoredSignIn>`select ${columns} from sign_in_setting where tenant_id = ${tx.tenant_id}`,
  )
  return found
}

/** The setting with its mappings. */
export async function findWholeSignIn(tx: Tx): Promise<WholeSignIn | undefined> {
  const [found] = await tx.read(sql<WholeSignIn>`select ${columns}, ${mappingsAsJson(tx)} as group_mappings
    from sign_in_setting where tenant_id = ${tx.tenant_id}`)
  return found
}

/** The tenant whose provider has this id; undefined for an unknown one. */
export async function findTenantOfProvider(work: UnrestrictedTx, id: string): Promise<string | undefined> {
  const [found] = await work.read(sql<{ tenant_id: string }>`select tenant_id from sign_in_setting where id = ${id}`)
  return found?.tenant_id
}

/**
 * Replaces `before` and emits an event without the secret, and with the change of the mappings, which are saved apart. Undefined when
 * another request changed the setting meanwhile.
 * @param sealed the new sealed secret; null: none; undefined: the stored one stays
 */
export async function saveSignInSetting(
  ctx: WorkCtx,
  checked: CheckedSignIn,
  before: WholeSignIn | undefined,
  { sealed, mappings }: { sealed: string | null | undefined; mappings: MappingChange },
): Promise<StoredSignIn | undefined> {
  const { tenant_id } = ctx.tx
  const { client_secret: _, group_mappings: _wanted, ...now } = checked
  const { enabled, issuer, client_id, redirect_uris, scopes, email_trust, subject_claim, groups_claim } = now
  const { identity_provider_id } = now
  const change = sealed === undefined ? 'kept' : sealed === null ? 'removed' : 'changed'
  const { client_secret: _secret, updated_at: _at, group_mappings: _held, id, ...old } = shownSignIn(before)
  const data = { old, new: now, client_secret: change, ...mappingsChanged(mappings) }
  const event = { type: 'setting.updated', subject_type: 'setting', subject_id: 'sign-in', data } as const
  const [[saved]] = await ctx.tx.write([
    sql<StoredSignIn>`with changed as (
        insert into sign_in_setting
          (tenant_id, id, enabled, issuer, client_id, sealed_client_secret, redirect_uris, scopes, email_trust,
            subject_claim, groups_claim, identity_provider_id)
        values (${tenant_id}, ${id ?? newId()}, ${enabled}, ${issuer}, ${client_id}, ${sealed ?? null},
          ${redirect_uris}::text[], ${scopes}::text[], ${email_trust}, ${subject_claim}, ${groups_claim},
          ${identity_provider_id}::uuid)
        on conflict (tenant_id) do update set enabled = excluded.enabled, issuer = excluded.issuer,
          client_id = excluded.client_id,
          -- What is kept stays as it is now: it may have been sealed again since it was read.
          sealed_client_secret = case when ${change === 'kept'} then sign_in_setting.sealed_client_secret
            else excluded.sealed_client_secret end,
          redirect_uris = excluded.redirect_uris, scopes = excluded.scopes,
          email_trust = excluded.email_trust, subject_claim = excluded.subject_claim,
          groups_claim = excluded.groups_claim, identity_provider_id = excluded.identity_provider_id,
          version = sign_in_setting.version + 1, updated_at = clock_timestamp()
          where sign_in_setting.version = ${before?.version ?? null}::bigint
        returning ${columns}),
      emitted as (${emit(ctx, event, sql`changed`)})
      select * from changed`,
  ])
  return saved
}

/** What the event says of the mappings; nothing where they stay. */
function mappingsChanged({ added, removed, vouched }: MappingChange) {
  const group_mappings = { added: mappingFact(added), removed: mappingFact(removed), vouched: mappingFact(vouched) }
  return isEmpty({ added, removed, vouched }) ? {} : { group_mappings }
}

/**
 * Whether the tenant's own provider is enabled and has this version still (undefined: whether none is enabled), and the statement
 * that keeps it so until the transaction ends.
 */
export function providerIsStill({ tenant_id }: Tx, version: string | undefined): { lock: Statement; holds: Statement } {
  const enabled = sql`exists (select from sign_in_setting where tenant_id = ${tenant_id} and enabled
    and version = coalesce(${version ?? null}::bigint, version))`
  return {
    lock: sql`select from sign_in_setting where tenant_id = ${tenant_id} for share`,
    holds: version === undefined ? sql`not ${enabled}` : enabled,
  }
}

/** The place to which the secret is sealed. */
function secretPlace({ tenant_id }: Tx) {
  return { table: 'sign_in_setting', id: tenant_id, field: 'client_secret' }
}

export function sealClientSecret(sealer: Sealer, tx: Tx, secret: string): Promise<string> {
  return sealer.seal(tx, secret, secretPlace(tx))
}

/** Undefined for a public client. */
export async function openClientSecret(
  sealer: Sealer,
  tx: Tx,
  { sealed_client_secret: sealed }: StoredSignIn,
): Promise<string | undefined> {
  return sealed === null ? undefined : sealer.unseal(tx, sealed, secretPlace(tx))
}
