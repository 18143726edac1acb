import assert from 'node:assert/strict'
import type { House, Reply, TestTenant } from './house.ts'

export type ListedRow = Record<string, unknown> & { id: string; name: string }

/** Calls as the owner of a tenant, or by a key. */
export function callerOf(house: House, { tenant_id, owner }: TestTenant) {
  const send = (method: string, url: string, body?: unknown, api_key = owner.api_key): Promise<Reply> =>
    house.call({ method, url, tenant_id, api_key, ...(body !== undefined && { body }) })

  /** Creates a record and returns its id. */
  async function create(url: string, body: unknown): Promise<string> {
    const { status, body: made, text } = await send('POST', url, body)
    assert.ok(status < 300, text)
    return String(made.id)
  }

  /** A key of the owner with these scopes. */
  async function keyWith(...scopes: string[]): Promise<string> {
    return String((await send('POST', '/v1/api-keys', { name: 'few scopes', scopes })).body.key)
  }

  /** Every row of a list, read by pages of this length. */
  async function whole<Row = ListedRow>(url: string, limit = 200, api_key?: string): Promise<Row[]> {
    const rows: Row[] = []
    for (let cursor = ''; ; ) {
      const { status, body, text } = await send(
        'GET',
        `${url}${url.includes('?') ? '&' : '?'}limit=${limit}${cursor}`,
        undefined,
        api_key,
      )
      assert.equal(status, 200, text)
      rows.push(...(body.data as Row[]))
      if (body.has_more !== true) return rows
      cursor = `&cursor=${body.next_cursor}`
    }
  }
  return { send, create, keyWith, whole }
}
