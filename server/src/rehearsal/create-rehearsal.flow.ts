import { systemActor, type WorkCtx } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import { newId } from '../kernel/id.ts'
import { changeRulesAtOnce } from '../policies/cases/change-rules.flow.ts'
import { maxRules } from '../policies/policy.ts'
import { insertPolicy } from '../policies/policy-store.ts'
import { insertRule } from '../policies/rule-store.ts'
import { statementFromInput } from '../policy-engine/cedar/statement.ts'
import { rehearsalRoles } from '../roles/role.ts'
import { insertUser } from '../users/user-store.ts'
import {
  type PersonPart,
  type Rehearsal,
  rehearsalAccounts,
  rehearsalEmail,
  rehearsalPeople,
  rehearsalPolicy,
  rehearsalRules,
  requireOwner,
  requireRehearsal,
} from './rehearsal.ts'
import { emitCreated, insertAccounts, lockForCreation, readRehearsal } from './rehearsal-store.ts'

const people = Object.keys(rehearsalPeople) as PersonPart[]

/**
 * Creates what is missing of the rehearsal, in one transaction; nothing where all of it is there.
 * @throws Problem 403 to anybody but an owner, 409 in a live tenant, 409 `case_broken`
 */
export function completeRehearsal(ctx: WorkCtx): Promise<Rehearsal> {
  return ctx.tx.interactive(async (tx) => {
    const inside = { ...ctx, tx }
    const keys = people.map((part) => rehearsalEmail(part))
    const there = await lockForCreation(tx, ctx.actor.user_id, keys)
    requireOwner(there)
    requireRehearsal(there)
    const lacking = people.filter((part) => !there.people.includes(part))
    for (const part of lacking) await createPerson(inside, part, there.emails)
    const accounts = rehearsalAccounts.map(({ part }) => part).filter((part) => !there.accounts.includes(part))
    const inserted = accounts.length === 0 ? 0 : await insertAccounts(inside, accounts)
    if (inserted < accounts.length) throw new Error('the tenant has an account for every number of the rehearsal')
    if (!there.has_policy) await createPolicy(inside)
    const rehearsal = await readRehearsal(tx)
    if (lacking.length + inserted > 0 || !there.has_policy) await emitCreated(inside, rehearsal)
    return rehearsal
  })
}

/** A person who cannot sign in: local, and without a password. Where a user of the tenant has the address, the person has another. */
async function createPerson(ctx: WorkCtx, part: PersonPart, taken: readonly string[]): Promise<void> {
  const id = newId()
  const usual = rehearsalEmail(part)
  await insertUser(ctx, {
    id,
    email: taken.includes(usual) ? rehearsalEmail(part, `-${id}`) : usual,
    name: rehearsalPeople[part],
    roles: [...rehearsalRoles],
    auth_provider: 'local',
    avatar_base64: null,
    password_hash: null,
    is_owner: false,
    rehearsal: part,
  })
}

async function createPolicy(ctx: WorkCtx): Promise<void> {
  const policy = await insertPolicy(ctx, { ...rehearsalPolicy, enabled: true, rehearsal: 'rules' })
  if (policy === undefined) throw new Error('a policy without a priority was not inserted')
  // The rules are not the owner's words: what a rule approves at once needs a person for the user who saved it.
  const byService = { ...ctx, actor: systemActor }
  for (const rule of rehearsalRules) {
    const change = insertRule(byService, { policy_id: policy.id, statement: statementFromInput(rule) })
    const [inserted] = await changeRulesAtOnce(byService, change)
    if (inserted?.rule) continue
    throw new Problem('unprocessable', `the tenant has the maximum of ${maxRules} rules; delete two first`)
  }
}
