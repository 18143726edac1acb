import type { GrantStatus, ProvisioningStatus } from '../../src/grants/grant.ts'
import { type GrantChange, grantTransitions, transitionsOf } from '../../src/grants/grant-transition.ts'

/** A status and a provisioning status together, as `active/successful`. */
export type GrantPair = `${GrantStatus}/${ProvisioningStatus}`

/** Every step that the life cycle of a grant allows, as `active/successful expired/deprovisioning`: in alphabetical order. */
export function foreseenSteps(): string[] {
  const steps = [...new Set(grantTransitions.map(({ change }) => change))].flatMap((change) =>
    stepsOf(change).map(([before, after]) => `${before} ${after}`),
  )
  return [...new Set(steps)].sort()
}

/** The steps of one change, `[before, after]`. */
export function stepsOf(change: GrantChange): [GrantPair, GrantPair][] {
  return transitionsOf(change).flatMap(({ from, was, to, becomes }) =>
    from.flatMap((status) =>
      was.map((provisioning): [GrantPair, GrantPair] => [`${status}/${provisioning}`, `${to ?? status}/${becomes}`]),
    ),
  )
}
