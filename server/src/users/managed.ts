import { Problem } from '../kernel/errors.ts'

/** Who manages a user: an identity provider, or null for people here. */
export type Managed = { identity_provider_id: string | null }

/**
 * What a directory says of its users changes there alone: it would undo a change here.
 * @throws Problem 403 for a user whom a directory manages
 */
export function requireManagedHere({ identity_provider_id }: Managed): void {
  if (identity_provider_id === null) return
  const message =
    'a directory manages this user: change them there. To stop them at once, suspend them, or end their access'
  throw new Problem('forbidden', message, { details: { identity_provider_id } })
}
