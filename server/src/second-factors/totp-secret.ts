import type { Ctx } from '../kernel/context.ts'

/** The place to which the secret of a factor is sealed. */
const placeOf = (id: string) => ({ table: 'second_factor', id, field: 'sealed_secrets' })

export function sealTotpSecret({ sealer, tx }: Ctx, id: string, secret: string): Promise<string> {
  return sealer.seal(tx, secret, placeOf(id))
}

export function openTotpSecret({ sealer, tx }: Ctx, factor: { id: string; sealed_secrets: string }): Promise<string> {
  return sealer.unseal(tx, factor.sealed_secrets, placeOf(factor.id))
}
