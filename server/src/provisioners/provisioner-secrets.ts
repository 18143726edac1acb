import type { SealedPlace, Sealer, Tx } from '../kernel/context.ts'

type Named<Value> = Readonly<Record<string, Value>>

/** The secrets of a provisioner, each by the name of its field. */
export type ProvisionerSecrets = {
  /** What callers gave. */
  given: Named<unknown>
  /** What we made. */
  made: Named<string>
  /** What we had made before the last rotation. */
  previous: Named<string>
}

export const noSecrets: ProvisionerSecrets = { given: {}, made: {}, previous: {} }

/** Where a provisioner's secrets are sealed to. */
function placeOfSecrets(id: string): SealedPlace {
  return { table: 'provisioner', id, field: 'sealed_secrets' }
}

/** Null where there are none. */
export async function sealSecrets(
  { tx, sealer }: { tx: Tx; sealer: Sealer },
  id: string,
  secrets: ProvisionerSecrets,
): Promise<string | null> {
  const isEmpty = Object.values(secrets).every((named) => Object.keys(named).length === 0)
  return isEmpty ? null : sealer.seal(tx, JSON.stringify(secrets), placeOfSecrets(id))
}

export async function openSecrets(
  { tx, sealer }: { tx: Tx; sealer: Sealer },
  id: string,
  sealed: string | null,
): Promise<ProvisionerSecrets> {
  if (sealed === null) return noSecrets
  return JSON.parse(await sealer.unseal(tx, sealed, placeOfSecrets(id))) as ProvisionerSecrets
}
