import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import type { House, Person, TestTenant } from './house.ts'
import { insertListedGrants, type ListedGrant } from './listed-grants.ts'

const states = [
  ...[['active', 'successful'] as const, ['expired', 'deprovisioned'] as const, ['pending', 'attempting'] as const],
  ...[['revoked', 'deprovisioning_failed'] as const, ['failed', 'failed'] as const],
  ...[['active', 'not_attempted'] as const, ['expired', 'deprovisioning'] as const],
]
const places = ['100000000001', 'arn:aws:Zürich/Straße', '100000000002', 'x-100000000001']
const actions = ['ReadOnly', 'Administrator', 'read_write', 'Élévation']
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString()

/** Grants with every state and fact in many combinations; two are created at each moment, and many end at one. */
function variedGrants(users: readonly string[], provisioners: readonly string[]): ListedGrant[] {
  const requests = Array.from({ length: 30 }, newId)
  return Array.from({ length: 84 }, (_, n) => {
    const [status = 'active', provisioning_status = 'successful'] = states[n % states.length] ?? []
    const begun = status !== 'pending' && status !== 'failed'
    return {
      ...{ id: newId(), status, provisioning_status },
      user_id: users[Math.floor(n / 3) % users.length] ?? '',
      request_id: requests[Math.floor(n / 3)] ?? '',
      resource_type: n % 5 === 0 ? 'cloud_db_instance' : 'cloud_account',
      resource_id: places[(n % 3) + (Math.floor(n / 3) % 2)] ?? '',
      action: actions[Math.floor(n / 4) % actions.length] ?? '',
      provisioner: status === 'pending' ? null : (['sandbox', ...provisioners][n % 4] ?? 'sandbox'),
      drifted: begun && n % 4 < 2,
      created_at: at(Math.floor(n / 2)),
      expires_at: begun ? at(1_000 + (n % 6)) : null,
      ended_by: status === 'revoked' ? (users[0] ?? '') : null,
      approved_by: Math.floor(n / 3) % 2 === 0 ? (users[(Math.floor(n / 3) + 1) % users.length] ?? '') : null,
    }
  })
}

type Row = Record<string, unknown> & { id: string }
export type Query = Record<string, string>

/** Two tenants with varied grants, and ways to list them. */
export async function openGrantLists(house: House) {
  const ours = await house.tenant('lists of grants')
  const theirs = await house.tenant('another tenant')
  const holdersOf = ({ people }: TestTenant) => [people.user.user_id, people.approver.user_id, people.auditor.user_id]
  const provisioners = await provisionersOf(house, ours, ['Accounts', 'Databases'])
  const grants = variedGrants(holdersOf(ours), provisioners)
  await insertListedGrants(house, ours.tenant_id, grants)
  const foreign = variedGrants(holdersOf(theirs), await provisionersOf(house, theirs, ['Accounts']))
  await insertListedGrants(house, theirs.tenant_id, foreign)
  const own = grants.filter(({ user_id }) => user_id === ours.people.user.user_id)
  const holders = holdersOf(ours)
  return {
    ours,
    theirs,
    holders,
    provisioners,
    grants,
    own,
    foreign,
    filters: filtersOf(holders, provisioners, grants),
    ...listsOf(house, ours),
  }
}

async function provisionersOf(house: House, { tenant_id }: TestTenant, names: readonly string[]): Promise<string[]> {
  const rows = await house.asSuperuser<{ id: string }>(
    `insert into provisioner (tenant_id, id, name, provisioner_type)
      select $1, gen_random_uuid(), name, 'sandbox' from unnest($2::text[]) name returning id`,
    [tenant_id, names],
  )
  return rows.map(({ id }) => id)
}

function listsOf(house: House, ours: TestTenant) {
  async function pageOf(person: Person, query: Query, tenant = ours) {
    const url = `/v1/grants?${new URLSearchParams(query)}`
    const reply = await house.call({ method: 'GET', url, token: person.token, tenant_id: tenant.tenant_id })
    assert.equal(reply.status, 200, `${url}: ${reply.text}`)
    return reply.body as { data: Row[]; has_more: boolean; next_cursor?: string }
  }

  /** Every row, by pages of `limit`. */
  async function listed(person: Person, query: Query, limit = 20, tenant = ours): Promise<Row[]> {
    const rows: Row[] = []
    let cursor: string | undefined
    do {
      const page = await pageOf(person, { ...query, limit: String(limit), ...(cursor && { cursor }) }, tenant)
      assert.ok(page.data.length <= limit)
      assert.equal(page.has_more, page.next_cursor !== undefined)
      rows.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== undefined)
    return rows
  }

  return { pageOf, listed }
}

export const isActive = (grant: ListedGrant) => grant.status === 'active'
export const isDrifted = (grant: ListedGrant) => isActive(grant) && grant.drifted
export type Keeps = (grant: ListedGrant) => boolean
/** Each filter with values that some grants have and others lack, and which grants it keeps. */
function filtersOf(
  holders: readonly string[],
  [first = '', second = '']: readonly string[],
  grants: readonly ListedGrant[],
): [Query, Keeps][] {
  return [
    [{ user_id: holders[0] ?? '' }, ({ user_id }) => user_id === holders[0]],
    [{ user_id: `${holders[1]},${holders[2]}` }, ({ user_id }) => user_id !== holders[0]],
    [{ request_id: grants[6]?.request_id ?? '' }, ({ request_id }) => request_id === grants[6]?.request_id],
    [{ status: 'active' }, isActive],
    [{ status: 'expired' }, ({ status }) => status === 'expired'],
    [{ status: 'pending,failed' }, ({ status }) => ['pending', 'failed'].includes(status)],
    [{ provisioning_status: 'deprovisioned' }, (grant) => grant.provisioning_status === 'deprovisioned'],
    [
      { provisioning_status: 'deprovisioning_failed,not_attempted' },
      (grant) => ['deprovisioning_failed', 'not_attempted'].includes(grant.provisioning_status),
    ],
    [{ resource_type: 'cloud_db_instance' }, (grant) => grant.resource_type === 'cloud_db_instance'],
    [{ resource_type: 'cloud_account,cloud_storage_bucket' }, (grant) => grant.resource_type === 'cloud_account'],
    [{ resource_id: '100000000001' }, ({ resource_id }) => resource_id === '100000000001'],
    [{ action: 'Administrator' }, ({ action }) => action === 'Administrator'],
    [{ provisioner_id: first.toUpperCase() }, ({ provisioner }) => provisioner === first],
    [{ provisioner_id: `${second},sandbox` }, ({ provisioner }) => [second, 'sandbox'].includes(String(provisioner))],
    [{ drifted: 'true' }, isDrifted],
    [{ drifted: 'false' }, (grant) => !isDrifted(grant)],
    [{ ends_before: at(1_003) }, (grant) => isActive(grant) && String(grant.expires_at) < at(1_003)],
    [{ created_after: at(10) }, ({ created_at }) => created_at >= at(10)],
    [{ created_before: at(30) }, ({ created_at }) => created_at < at(30)],
    [{ q: '1000' }, ({ resource_id }) => resource_id.includes('1000')],
    [{ q: 'STRASSE' }, () => false],
    [{ q: 'zurich straße' }, ({ resource_id }) => resource_id.startsWith('arn')],
    [{ q: 'read' }, ({ action }) => action.toLowerCase().startsWith('read')],
    [{ q: 'elevation 10' }, (grant) => grant.action === 'Élévation' && grant.resource_id.includes('1000')],
  ]
}

export const sorts = ['', 'created_at', '-created_at', 'expires_at', '-expires_at']
