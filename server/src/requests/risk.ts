import { Type } from 'typebox'
import { OneOf } from '../http/schema.ts'

/**
 * Why a request is risky. `administrator`: the permission set is one of those that can do everything, or give themselves the rights to.
 * `sensitive_account`: it concerns an account with the tag `sensitivity=high`.
 */
export const riskReasons = ['break_glass', 'administrator', 'sensitive_account'] as const
export type RiskReason = (typeof riskReasons)[number]

/** The risk of a request, in replies. */
export const riskFields = {
  risk: OneOf(['high', 'normal']),
  risk_reasons: Type.Array(OneOf(riskReasons), {
    description:
      'why the risk is high. break_glass: an emergency; administrator: the permission set AdministratorAccess, ' +
      'PowerUserAccess or IAMFullAccess; sensitive_account: an account with the tag `sensitivity=high`',
  }),
}
export type Risk = { risk: 'high' | 'normal'; risk_reasons: RiskReason[] }

/** The managed policies of AWS by these names; the sets that Control Tower makes of them have `AWS` in front. */
const administratorSet = /^(?:aws)?(?:administratoraccess|poweruseraccess|iamfullaccess)$/i

/** The requested access, as far as its risk depends on it. `home`: the account that the resource is in, where it is known. */
type Requested = {
  break_glass: boolean
  action: string
  places: readonly { account_id?: string; permission_set?: string }[]
  home: string | undefined
}

/** The risk of requested access, by what is known of its accounts when the request is made. */
export function riskOf(
  { break_glass, action, places, home }: Requested,
  accounts: ReadonlyMap<string, { tags: Readonly<Record<string, string>> }>,
): Risk {
  const sets = [action, ...places.map(({ permission_set = '' }) => permission_set)]
  const account_ids = [home ?? '', ...places.map(({ account_id = '' }) => account_id)]
  const holds: Record<RiskReason, boolean> = {
    break_glass,
    administrator: sets.some((set) => administratorSet.test(set.split(/[:/]/).at(-1) ?? '')),
    sensitive_account: account_ids.some((id) => accounts.get(id)?.tags.sensitivity === 'high'),
  }
  const risk_reasons = riskReasons.filter((reason) => holds[reason])
  return { risk: risk_reasons.length > 0 ? 'high' : 'normal', risk_reasons }
}
