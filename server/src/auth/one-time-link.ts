import { readSessionSecret, type SessionClaim } from '../sessions/session-secret.ts'

/** The tenant that the key of a link names. */
export function tenantInKey({ key }: { key: string }): string | undefined {
  return readSessionSecret(key)?.tenant_id
}

/** What `find` finds for the key. @throws what `over` makes, the same for every cause: a stranger learns nothing from it */
export async function requireLink<Found>(
  key: string,
  find: (claim: SessionClaim) => Promise<Found | undefined>,
  over: () => Error,
): Promise<{ claim: SessionClaim; found: Found }> {
  const claim = readSessionSecret(key)
  const found = claim && (await find(claim))
  if (claim === undefined || found === undefined) throw over()
  return { claim, found }
}
