/** An answer over HTTP; `body` is empty where there is none. */
export type ScimAnswer = { status: number; body: Record<string, unknown>; text: string }

/** A client of a directory’s SCIM service, over HTTP as directories call it. */
export type ScimClient = (method: string, path: string, body?: object) => Promise<ScimAnswer>

/** A client of the directory `id` at `base_url`, with its key. */
export function scimClientAt(base_url: string, { id, key }: { id: string; key: string }): ScimClient {
  return async (method, path, body) => {
    const reply = await fetch(`${base_url}/scim/v2/${id}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>), text }
  }
}
