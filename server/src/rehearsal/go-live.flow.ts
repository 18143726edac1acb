import type { Statement } from '../kernel/context.ts'
import { changeRulesAtOnce } from '../policies/cases/change-rules.flow.ts'
import { deletePolicyById } from '../policies/policy-store.ts'
import type { GoLive } from '../tenants/mode.ts'
import { anyCondition, emitWentLive, mayGoLive, saveLive } from '../tenants/mode-store.ts'
import type { EndRehearsalAccess } from './rehearsal.ts'
import { deleteAccounts, deletePerson, lockMade } from './rehearsal-store.ts'

/**
 * Going live, by hand, by the operator or with a provisioner. The people, the rules, the accounts and the tokens of the rehearsal end in
 * the transaction that has the tenant go live; what they did stays on record. What the rehearsal did not make stays as it is.
 */
export const goLiveWith =
  (endAccess: EndRehearsalAccess): GoLive =>
  (ctx, cause, condition: Statement = anyCondition) =>
    ctx.tx.interactive(async (tx) => {
      if (!(await mayGoLive(tx, condition))) return false
      const inside = { ...ctx, tx }
      // INVARIANT: users are locked before the tenant, and the tenant before requests and rules.
      await lockMade(tx)
      if (!(await saveLive(tx, condition))) return false
      // Again: what another call has made until the tenant was locked.
      const made = await lockMade(tx)
      const { user_ids, account_ids, policy_id } = made
      for (const id of user_ids) await deletePerson(inside, id)
      if (user_ids.length + account_ids.length > 0) {
        const why = 'the rehearsal is over'
        await endAccess(inside, { user_ids, account_ids }, { cancelled: why, revoked: why })
      }
      if (policy_id !== null) await changeRulesAtOnce(inside, deletePolicyById(inside, policy_id))
      await deleteAccounts(inside)
      const isNothing = user_ids.length + account_ids.length === 0 && policy_id === null
      await emitWentLive(inside, cause, isNothing ? undefined : made)
      return true
    })
