import assert from 'node:assert/strict'
import type { House, Person, TestTenant } from './house.ts'

export type Shown = {
  mode: string
  live_since: string | null
  people: { id: string; name: string; active: boolean; roles: string[] }[]
  accounts: { id: string; name: string }[]
  policy_id: string | null
}

type Caller = Pick<Person, 'token'>

/** A tenant with its rehearsal, and tokens for the people of it. */
export async function rehearsalStage(house: House, name: string) {
  const tenant = await house.tenant(name)
  const { tenant_id, owner } = tenant
  const call = (person: Caller, method: string, url: string, body?: unknown) =>
    house.call({ method, url, token: person.token, tenant_id, ...(body !== undefined && { body }) })
  const shown = async () => (await call(owner, 'GET', '/v1/rehearsal')).body as Shown
  const create = async () => {
    const reply = await call(owner, 'POST', '/v1/rehearsal', {})
    assert.equal(reply.status, 200, reply.text)
    return reply.body as Shown
  }
  const made = await create()
  const idOf = (part: string) => String(made.people.find((one) => one.name.toLowerCase().startsWith(part))?.id)
  const accountOf = (part: string) => String(made.accounts.find((one) => one.name.endsWith(part))?.id)
  const askToken = (user_id: string, by: Caller = owner) => call(by, 'POST', '/v1/rehearsal/token', { user_id })
  const become = async (part: string) => {
    const reply = await askToken(idOf(part))
    assert.equal(reply.status, 201, reply.text)
    return { user_id: idOf(part), token: String(reply.body.token) }
  }
  const request = (person: Caller, account: string, action = 'ReadOnlyAccess') =>
    call(person, 'POST', '/v1/requests', { resource: { type: 'cloud_account', id: account }, action })
  const goLive = (confirm = name, by: Caller = owner) => call(by, 'POST', '/v1/tenant/go-live', { confirm })
  return {
    ...tenant,
    name,
    made,
    call,
    shown,
    create,
    idOf,
    accountOf,
    askToken,
    become,
    request,
    goLive,
    ...kept(house, tenant),
  }
}

/** Reads the tenant's rows from the database. */
function kept(house: House, { tenant_id }: TestTenant) {
  const rows = <Row extends Record<string, unknown>>(text: string, ...values: unknown[]) =>
    house.asSuperuser<Row>(text, [tenant_id, ...values])
  return {
    rows,
    modeNow: async () => (await rows<{ mode: string }>('select mode from tenant where id = $1'))[0]?.mode,
    statusOf: async (table: 'access_request' | 'access_grant', id: unknown) =>
      (await rows<{ status: string }>(`select status from ${table} where tenant_id = $1 and id = $2`, id))[0]?.status,
    /** How much of the rehearsal is left. */
    left: async () => {
      const [row] = await rows<{ people: number; sessions: number; policies: number; rules: number; accounts: number }>(
        `select (select count(*)::int from tenant_user where tenant_id = $1 and rehearsal is not null
            and deleted_at is null) as people,
          (select count(*)::int from user_session s join tenant_user u on u.tenant_id = s.tenant_id
            and u.id = s.user_id where s.tenant_id = $1 and u.rehearsal is not null) as sessions,
          (select count(*)::int from policy where tenant_id = $1 and rehearsal is not null) as policies,
          (select count(*)::int from policy_rule r join policy p on p.tenant_id = r.tenant_id and p.id = r.policy_id
            where r.tenant_id = $1 and p.name = 'Rehearsal') as rules,
          (select count(*)::int from cloud_account where tenant_id = $1 and rehearsal is not null) as accounts`,
      )
      return row
    },
    eventsOf: (type: string) =>
      rows<{ actor_kind: string; actor_id: string | null; subject_id: string; data: Record<string, unknown> }>(
        'select actor_kind, actor_id, subject_id, data from event where tenant_id = $1 and type = $2 order by seq',
        type,
      ),
  }
}

export const nothingLeft = { people: 0, sessions: 0, policies: 0, rules: 0, accounts: 0 }
