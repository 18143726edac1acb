import type { SealedPlace, Sealer, Tx } from '../kernel/context.ts'

/** The secrets of a webhook channel, which are never shown. */
export type WebhookSecrets = {
  /** Signs every message: `whsec_…`. */
  secret: string
  /** The secret before the last rotation; null when it is no longer valid. */
  previous: string | null
  headers: Readonly<Record<string, string>>
}

type Dependencies = { tx: Tx; sealer: Sealer }

function placeOfSecrets(id: string): SealedPlace {
  return { table: 'notification_channel', id, field: 'sealed_secrets' }
}

export function sealSecrets({ tx, sealer }: Dependencies, id: string, secrets: WebhookSecrets): Promise<string> {
  return sealer.seal(tx, JSON.stringify(secrets), placeOfSecrets(id))
}

export async function openSecrets({ tx, sealer }: Dependencies, id: string, sealed: string): Promise<WebhookSecrets> {
  return JSON.parse(await sealer.unseal(tx, sealed, placeOfSecrets(id))) as WebhookSecrets
}
