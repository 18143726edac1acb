import type { Exchange } from '../support/recorder.ts'

/** Queries as the superuser, exempt from tenant isolation. */
export type Query = <Row extends Record<string, unknown>>(text: string, values?: unknown[]) => Promise<Row[]>

/** What the service has acknowledged: the last answered status of each request and grant, and the other records it created. */
function acknowledgedResults(exchanges: readonly Exchange[]) {
  const requests = new Map<string, string>()
  const grants = new Map<string, string>()
  const made: Record<'tenant_user' | 'policy' | 'policy_rule', string[]> = {
    tenant_user: [],
    policy: [],
    policy_rule: [],
  }
  const noteGrants = (list: unknown) => {
    for (const grant of list as { id: string; status: string }[]) grants.set(grant.id, grant.status)
  }
  for (const { method, path, status, body } of exchanges.filter((exchange) => exchange.status < 300)) {
    const call = `${method} ${path.replace(/\?.*/, '').replaceAll(/[0-9a-f-]{36}/g, '{id}')} ${status}`
    const id = String(body.id ?? path.split('/')[3])
    const noted: Record<string, () => unknown> = {
      'POST /v1/users 201': () => made.tenant_user.push(id),
      'POST /v1/policies 201': () => made.policy.push(id),
      'POST /v1/policies/{id}/rules 201': () => made.policy_rule.push(id),
      'POST /v1/requests 201': () => requests.set(id, String(body.status)),
      'POST /v1/requests/{id}/approve 200': () => requests.set(id, 'approved'),
      'POST /v1/requests/{id}/deny 200': () => requests.set(id, 'denied'),
      'DELETE /v1/requests/{id} 204': () => requests.set(id, 'cancelled'),
      'POST /v1/grants/{id}/revoke 200': () => grants.set(id, 'revoked'),
      'GET /v1/grants 200': () => noteGrants(body.data),
      'GET /v1/access/requests/{id} 200': () => noteGrants(body.grants),
    }
    noted[call]?.()
  }
  return { requests, grants, made }
}

/** The statuses that a grant may have after it was answered with this one. */
const later: Readonly<Record<string, string[]>> = {
  pending: ['pending', 'active', 'expired', 'revoked', 'failed'],
  active: ['active', 'expired', 'revoked'],
  failed: ['failed', 'pending', 'active'],
  expired: ['expired'],
  revoked: ['revoked'],
}

/** One sentence for each acknowledged result that no longer holds; none: nothing was lost. */
export async function findLost(query: Query, exchanges: readonly Exchange[]): Promise<string[]> {
  const { requests, grants, made } = acknowledgedResults(exchanges)
  const statusesIn = async (table: string, ids: Iterable<string>) => {
    const rows = await query<{ id: string; status: string }>(`select id, status from ${table} where id = any($1)`, [
      [...ids],
    ])
    return new Map(rows.map(({ id, status }) => [id, status]))
  }
  const [requestsNow, grantsNow] = [
    await statusesIn('access_request', requests.keys()),
    await statusesIn('access_grant', grants.keys()),
  ]
  const lost = exchanges
    .filter(({ status }) => status === 500)
    .map(({ method, path }) => `${method} ${path} was answered with 500, an internal error`)
  for (const [id, answered] of requests) {
    const now = requestsNow.get(id) ?? 'lost'
    if (now !== answered && (answered !== 'pending' || now === 'lost'))
      lost.push(`the request ${id}, answered as ${answered}, is ${now}`)
  }
  for (const [id, answered] of grants) {
    const now = grantsNow.get(id) ?? 'lost'
    if (!later[answered]?.includes(now)) lost.push(`the grant ${id}, answered as ${answered}, is ${now}`)
  }
  for (const [table, ids] of Object.entries(made)) {
    const there = await query<{ id: string }>(`select id from ${table} where id = any($1)`, [ids])
    const missing = ids.filter((id) => !there.some((row) => row.id === id))
    lost.push(...missing.map((id) => `the ${table} ${id}, answered as made, is lost`))
  }
  return lost
}
