import type { Exchange } from '../support/recorder.ts'

/** Looks past every wall. */
export type Look = <Row extends Record<string, unknown>>(text: string, values?: unknown[]) => Promise<Row[]>

/** What the service has given its word on: of each request and grant what it answered last, and what else it made. */
function givenWord(exchanges: readonly Exchange[]) {
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

/** What may have become of a grant since it was answered as this. */
const later: Readonly<Record<string, string[]>> = {
  pending: ['pending', 'active', 'expired', 'revoked', 'failed'],
  active: ['active', 'expired', 'revoked'],
  failed: ['failed', 'pending', 'active'],
  expired: ['expired'],
  revoked: ['revoked'],
}

/** Whatever was answered and is not so any more: a sentence each. None: every word was kept. */
export async function findLost(look: Look, exchanges: readonly Exchange[]): Promise<string[]> {
  const { requests, grants, made } = givenWord(exchanges)
  const statusesIn = async (table: string, ids: Iterable<string>) => {
    const rows = await look<{ id: string; status: string }>(`select id, status from ${table} where id = any($1)`, [
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
    .map(({ method, path }) => `${method} ${path} was answered with 500: a fault of the service’s own`)
  for (const [id, told] of requests) {
    const now = requestsNow.get(id) ?? 'lost'
    if (now !== told && (told !== 'pending' || now === 'lost'))
      lost.push(`the request ${id}, answered as ${told}, is ${now}`)
  }
  for (const [id, told] of grants) {
    const now = grantsNow.get(id) ?? 'lost'
    if (!later[told]?.includes(now)) lost.push(`the grant ${id}, answered as ${told}, is ${now}`)
  }
  for (const [table, ids] of Object.entries(made)) {
    const there = await look<{ id: string }>(`select id from ${table} where id = any($1)`, [ids])
    const missing = ids.filter((id) => !there.some((row) => row.id === id))
    lost.push(...missing.map((id) => `the ${table} ${id}, answered as made, is lost`))
  }
  return lost
}
