import assert from 'node:assert/strict'
import type { House, Person, TestTenant } from './house.ts'

export const actionUrl = (action: string) => `/v1/actions/${encodeURIComponent(action)}`

/** The calls that describe actions of a tenant, by its owner unless another person is named, and the events of that. */
export function describedActions(house: House, { tenant_id, owner }: TestTenant) {
  async function call(method: string, url: string, body?: unknown, if_match?: string, person: Person = owner) {
    const headers = if_match === undefined ? {} : { 'if-match': if_match }
    const of = { method, url, token: person.token, tenant_id, headers }
    const reply = await house.call({ ...of, ...(body !== undefined && { body }) })
    return { ...reply, etag: String(reply.headers.etag) }
  }
  const describe = (action: string, description: unknown, if_match?: string) =>
    call('PUT', actionUrl(action), { description }, if_match)
  async function described(action: string, description: string) {
    const reply = await describe(action, description)
    assert.equal(reply.status, 200, reply.text)
    return reply
  }
  const eventsOf = (action: string) =>
    house.asSuperuser<{ type: string; actor_id: string; data: object }>(
      `select type, actor_id, data from event
        where tenant_id = $1 and subject_type = 'action' and subject_id = $2 order by seq`,
      [tenant_id, action],
    )
  return { call, describe, described, eventsOf }
}
