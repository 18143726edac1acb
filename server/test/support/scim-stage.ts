import { type House, openHouse, type TestTenant } from './house.ts'

/** An answer of the SCIM service; `body` is empty where there is none. */
export type ScimReply = {
  status: number
  body: Record<string, unknown>
  headers: Record<string, unknown>
  text: string
}

/** A directory of a tenant, with a key for it. */
export type Directory = {
  id: string
  key: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimReply>
  /** Makes a user, and returns the answer’s body. */
  user(more: Record<string, unknown>): Promise<Record<string, unknown> & { id: string }>
  /** Makes a group of these users. */
  group(displayName: string, ids?: readonly string[]): Promise<Record<string, unknown> & { id: string }>
}

/** A house with a tenant that has a directory. `follows`: it keeps for moments what credentials prove. */
export async function openScimStage({ follows = false } = {}) {
  const house = await openHouse({}, undefined, follows)
  const acme = await house.tenant('Acme')
  return {
    house,
    acme,
    directory: await makeDirectory(house, acme),
    makeDirectory: (tenant = acme) => makeDirectory(house, tenant),
  }
}

/** A directory of a tenant, with a key that its owner made. */
export async function makeDirectory(house: House, { tenant_id, owner }: TestTenant): Promise<Directory> {
  const { api_key } = owner
  const made = async (url: string, body: object) => {
    const reply = await house.call({ method: 'POST', url, api_key, tenant_id, body })
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body
  }
  const { id } = await made('/v1/identity-providers', { name: 'Directory', provider_type: 'custom_scim' })
  const { key } = await made('/v1/api-keys', { name: 'scim', identity_provider_id: id })
  const directory = { id: String(id), key: String(key) }
  const call: Directory['call'] = (method, path, body, headers) =>
    callScim(house, directory, { method, path, body, headers })
  const required = async (path: string, body: object) => {
    const reply = await call('POST', path, body)
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body as Record<string, unknown> & { id: string }
  }
  return {
    ...directory,
    call,
    user: (more) => required('/Users', { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], ...more }),
    group: (displayName, ids = []) => required('/Groups', { displayName, members: ids.map((value) => ({ value })) }),
  }
}

type ScimCall = { method: string; path: string; body?: unknown; headers?: Record<string, string> | undefined }

/** Calls below `/scim/v2/{id}`; with `authorization: ''` without a credential. */
export async function callScim(
  house: House,
  { id, key }: Pick<Directory, 'id' | 'key'>,
  { method, path, body, headers }: ScimCall,
): Promise<ScimReply> {
  const sent = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/scim+json' }),
    ...headers,
  }
  const reply = await house.app.server.inject({
    method: method as 'GET',
    url: `/scim/v2/${id}${path}`,
    headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return {
    status: reply.statusCode,
    body: reply.payload === '' ? {} : (JSON.parse(reply.payload) as Record<string, unknown>),
    headers: reply.headers,
    text: reply.payload,
  }
}
