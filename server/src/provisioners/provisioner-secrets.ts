import type { SealedPlace, Sealer, Tx } from '../kernel/context.ts'
import { redacted } from '../secrets/sealed-config.ts'
import type { Config, Opening } from './driver.ts'

type Named<Value> = Readonly<Record<string, Value>>

/** The secrets of a provisioner, each by the name of its field. */
export type ProvisionerSecrets = {
  /** Secrets from callers. */
  given: Named<unknown>
  /** Generated secrets. */
  made: Named<string>
  /** Generated secrets from before the last rotation. */
  previous: Named<string>
}

export const noSecrets: ProvisionerSecrets = { given: {}, made: {}, previous: {} }

/** The place to which a provisioner's secrets are bound. */
function placeOfSecrets(id: string): SealedPlace {
  return { table: 'provisioner', id, field: 'sealed_secrets' }
}

/** Null when there are none. */
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

/** The config to open a driver: with its secrets, and the previous secrets while they are valid. */
export function wholeConfig(
  { config, previous_ms }: { config: Config; previous_ms: number | null },
  { given, made, previous }: ProvisionerSecrets,
): Pick<Opening, 'config' | 'previous'> {
  return { config: { ...config, ...given, ...made }, previous: (previous_ms ?? 0) > 0 ? previous : {} }
}

/** Shorter secrets occur in any text by chance. */
const minSecretLength = 4

/** The text with `[redacted]` in place of each secret, plain or URL-encoded. */
export function withoutSecrets(text: string, secrets: ProvisionerSecrets): string {
  const forms = textsIn(secrets).flatMap((secret) => [secret, encodeURIComponent(secret)])
  // The longest first: one may be the beginning of another.
  const ordered = forms.filter((form) => form.length >= minSecretLength).sort((one, other) => other.length - one.length)
  return ordered.reduce((rest, form) => rest.replaceAll(form, redacted), text)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
