import assert from 'node:assert/strict'
import { endExpiredMemberships } from '../../src/groups/claimed-member-store.ts'
import { claimDue } from '../../src/jobs/claim.ts'
import { systemActor } from '../../src/kernel/context.ts'
import type { Reply, TestTenant } from './house.ts'
import { anna, claimsOf, openProviderOfAll, openSignInStage } from './sign-in-stage.ts'

export type Mapping = { value: string; group_id: string; in_effect?: boolean }

async function must(reply: Reply | Promise<Reply>): Promise<Reply> {
  const done = await reply
  assert.ok(done.status < 300, done.text)
  return done
}
/** The sign-in stage, where claims of the provider give groups. */
export async function openClaimsStage() {
  const idp = await openProviderOfAll()
  const stage = await openSignInStage(idp)
  const { house, asOwner, configure, signIn } = stage

  const by = (token: string, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token, tenant_id: stage.tenant().tenant_id, ...(body !== undefined && { body }) })

  /** Sets the claim; returns the provider's id. */
  const open = async (change: object = {}) => String((await configure({ groups_claim: 'groups', ...change })).body.id)

  /** A group of the provider that gives a new role with these scopes. */
  async function makeGroup(sign_in_provider_id: string, scopes: readonly string[] = []) {
    const role = String((await must(asOwner('POST', '/v1/roles', { name: 'a role', scopes }))).body.id)
    const group = await must(asOwner('POST', '/v1/groups', { name: 'Engineers', sign_in_provider_id }))
    const group_id = String(group.body.id)
    await must(asOwner('PUT', `/v1/groups/${group_id}/role-mappings`, { role_ids: [role] }))
    return { group_id, role }
  }

  const map = (group_mappings: Mapping[], change: object = {}) => configure({ group_mappings, ...change })

  /** A person who is no admin, with a role of their own that has these scopes. */
  async function someone(scopes: readonly string[]) {
    const role = String((await must(asOwner('POST', '/v1/roles', { name: 'narrow', scopes }))).body.id)
    const body = { email: `${crypto.randomUUID()}@example.com`, name: 'Narrow', roles: ['user'], auth_provider: 'oidc' }
    const user_id = String((await must(asOwner('POST', '/v1/users', body))).body.id)
    await must(asOwner('PUT', `/v1/users/${user_id}/roles`, { roles: [role] }))
    return house.person(stage.tenant().tenant_id, user_id)
  }

  /** Signs in with these claims; returns the user's id and token. */
  async function enter(account: string, claims: object, of: TestTenant = stage.tenant()) {
    const reply = await must(signIn(account, { ...anna, email: `${account}@example.com`, ...claims }, of))
    return { id: claimsOf(reply).sub, token: String(reply.body.token) }
  }

  return { ...stage, ...readsOf(stage), must, by, open, makeGroup, map, someone, enter }
}

type Stage = Awaited<ReturnType<typeof openSignInStage>>

/** What can be read of groups and mappings, and of what happened to them. */
function readsOf({ house, asOwner, tenant }: Stage) {
  const groupsOf = async (user_id: string) => {
    const reply = await must(asOwner('GET', `/v1/users/${user_id}/groups`))
    return (reply.body.data as { group_id: string }[]).map(({ group_id }) => group_id)
  }
  const mappings = async () =>
    (await must(asOwner('GET', '/v1/settings/sign-in'))).body.group_mappings as Required<Mapping>[]

  /** The events about memberships of a user, in order. */
  const changes = (user_id: string) =>
    house.asSuperuser<{ type: string; cause: string | null }>(
      `select type, data ->> 'cause' as cause from event where tenant_id = $1 and type like 'group.member_%'
        and data ->> 'user_id' = $2 order by seq`,
      [tenant().tenant_id, user_id],
    )
  /** What the audit log says of the claim, of the last sign-in. */
  const lastClaim = async () => {
    const [row] = await house.asSuperuser<{ groups: unknown }>(
      `select data -> 'groups' as groups from event where tenant_id = $1 and type = 'auth.signed_in'
        order by seq desc limit 1`,
      [tenant().tenant_id],
    )
    return row?.groups
  }
  /** Lets memberships by claims of a user end now. */
  const expire = (user_id: string) =>
    house.asSuperuser(
      `update group_member set expires_at = clock_timestamp() where user_id = $1 and mapping_id is not null`,
      [user_id],
    )
  /** Does the work of the job that ends memberships, as far as it is due in the tenant. */
  const endDue = async () => {
    const { tenant_id } = tenant()
    const ctx = { tx: house.database.tenant(tenant_id), actor: systemActor, request_id: 'test' }
    const request = { table: 'claimed_groups', part: undefined, max: 100, maxPerTenant: 100, without: [] } as const
    const [claim] = await claimDue(house.database, [request])
    for (const item of claim?.items ?? []) {
      if (item.tenant_id === tenant_id) await endExpiredMemberships(ctx, item)
    }
  }
  return { groupsOf, mappings, changes, lastClaim, expire, endDue }
}
