import { setTimeout as pause } from 'node:timers/promises'

/** A user of a tenant; before sign-in the token is empty. */
export type Caller = { tenant_id: string; token: string }

/** Milliseconds of each of some 50 calls a second, one after another, for as long as `work` runs. */
export async function meanwhile(work: () => Promise<void>, during: Promise<unknown>): Promise<number[]> {
  const took: number[] = []
  let over = false
  const end = during.finally(() => {
    over = true
  })
  while (!over) {
    const began = performance.now()
    await work()
    took.push(performance.now() - began)
    await pause(20)
  }
  await end
  return took
}

/** Calls as a user of a tenant; an unsuccessful answer ends the bench. */
export function callerOf(base_url: string) {
  return async <Body>(
    { tenant_id, token }: Caller,
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: object,
  ): Promise<Body> => {
    const reply = await fetch(`${base_url}${path}`, {
      method,
      headers: {
        'x-tenant-id': tenant_id,
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`)
    return (await reply.json()) as Body
  }
}
