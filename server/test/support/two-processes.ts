import type { Client } from './client.ts'
import { type ServiceStart, startOnTestServer } from './sallyport.ts'

/** A user who has signed in at both processes: `at[0]` calls the first, `at[1]` the second. */
export type PersonAtBoth = { id: string; at: readonly [Client, Client] }

/** Two real processes of the service on this test file's own database. */
export async function startTwoProcesses(how?: ServiceStart) {
  // Both under one public URL, as behind a load balancer: tokens are issued in its name.
  const one = await startOnTestServer({ PUBLIC_URL: 'https://sallyport.example.com' }, how)
  const other = await one.beside()
  const at = (credential: { token: string } | { api_key: string }) =>
    [one.client(credential), other.client(credential)] as const
  return {
    asSuperuser: one.asSuperuser,
    tenant_id: one.bootstrap.tenant_id,
    /** A caller with this credential at both. */
    at,
    /** The owner, by the first API key. */
    owner: at({ api_key: one.bootstrap.api_key }),
    async join(name: string, roles: string[]): Promise<PersonAtBoth> {
      const { id, token } = await one.join(name, roles)
      return { id, at: at({ token }) }
    },
    /** The errors that either has logged, except that a busy database did not answer in time. */
    faults: () =>
      (one.output() + other.output())
        .split('\n')
        .filter((line) => line.includes('"level":"error"') && !line.includes('"code":"unavailable"')),
  }
}
