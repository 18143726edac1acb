/**
 * Every change of a tenant's rules goes through this flow: under the lock of the rules, and never so that a required case stops
 * holding. A case that fails already does not block a change; otherwise the rules could not be fixed. Reordering does not use this
 * flow, because order decides nothing.
 */
import type { Statement, WorkCtx } from '../../kernel/context.ts'
import { Problem } from '../../kernel/errors.ts'
import { draftEvaluator } from '../../policy-engine/deciding/evaluate.ts'
import type { RuleSet } from '../../policy-engine/deciding/rule-set.ts'
import type { RuleSetChange } from '../../policy-engine/deciding/rule-set-change-store.ts'
import {
  findRuleSet,
  isRuleSetAtHand,
  readRuleSetVersion,
  readTrialRuleSet,
} from '../../policy-engine/deciding/rule-set-store.ts'
import { newLiterals, requireFewLiterals, requireMayRead } from '../../policy-facts/literals.ts'
import { findPolicyFacts } from '../../policy-facts/policy-facts.flow.ts'
import type { PolicyCase } from './case.ts'
import { always, lockForChange, nothing, writeIfNoneRequired } from './case-store.ts'
import { type CaseOutcome, tryCases, visibleTo } from './outcome.ts'

/**
 * Changes the rules in one transaction. `seen` is read under the lock, in the same round trip; then `change` writes. Where the
 * tenant requires no case, this takes no further round trip. `addsLiterals`: whether rules come into force that name and read
 * entities; then they are counted, and the caller must be allowed to read them.
 * @throws Problem `case_broken`, `invalid_policy` or `forbidden`, and nothing is changed
 */
export async function changeRules<Ctx extends WorkCtx, Seen, Result>(
  ctx: Ctx,
  seen: Statement<Seen>,
  change: (ctx: Ctx, seen: Seen[]) => Promise<Result>,
  addsLiterals: (seen: Seen[]) => boolean = () => false,
): Promise<Result> {
  const attempt = (isLast: boolean) =>
    ctx.tx.interactive(async (tx) => {
      const inside = { ...ctx, tx }
      const { version, cases, rows } = await lockForChange(tx, seen)
      const adds = addsLiterals(rows)
      if (cases.length === 0 && !adds) return { result: await change(inside, rows) }
      if (!isLast && !isRuleSetAtHand(tx.tenant_id, version)) return undefined
      const before = await findRuleSet(tx, version)
      const result = await change(inside, rows)
      const after = await readTrialRuleSet(tx)
      await draftEvaluator.rules.read(after, before)
      if (adds) {
        await requireFewLiterals(draftEvaluator, before, after)
        requireMayRead(ctx.actor.scopes, newLiterals(draftEvaluator, before, after))
      }
      await requireKept(inside, cases, { before, after })
      return { result }
    })
  const done = await attempt(false)
  if (done !== undefined) return done.result
  // Rules that this process has not cached are read before the lock is taken.
  await findRuleSet(ctx.tx, await readRuleSetVersion(ctx.tx))
  const { result } = (await attempt(true)) as { result: Result }
  return result
}

/**
 * Changes the rules by one statement, in one round trip where the tenant requires no case and the change adds no rule that names and
 * reads entities.
 * @returns the rows of the statement
 * @throws Problem `case_broken` or `invalid_policy`, and nothing is changed
 */
export async function changeRulesAtOnce<Row>(
  ctx: WorkCtx,
  change: RuleSetChange<Row>,
  addsLiterals = false,
): Promise<Row[]> {
  const rows = addsLiterals ? undefined : await writeIfNoneRequired(ctx.tx, change)
  if (rows !== undefined) return rows
  const write = async ({ tx }: WorkCtx) => (await tx.write([change(always)]))[0]
  return changeRules(ctx, nothing, write, () => addsLiterals)
}

/** Evaluates the cases on the changed rules, and those that fail also on the rules before the change. */
async function requireKept(
  { tx, actor }: WorkCtx,
  cases: readonly PolicyCase[],
  { before, after }: { before: RuleSet; after: RuleSet },
): Promise<void> {
  if (cases.length === 0) return
  const { literals } = await findPolicyFacts(tx, [before, after], { evaluator: draftEvaluator })
  const failures = async (ruleSet: RuleSet, some: readonly PolicyCase[]) => {
    const outcomes = await tryCases(draftEvaluator, ruleSet, some, literals)
    return new Map(outcomes.filter(({ passed }) => !passed).map((outcome) => [outcome.case, outcome]))
  }
  const failed = await failures(after, cases)
  if (failed.size === 0) return
  const brokenBefore = await failures(
    before,
    cases.filter((one) => failed.has(one.case)),
  )
  const broken = [...failed.values()].filter((outcome) => !brokenBefore.has(outcome.case))
  if (broken.length > 0) throw caseBroken(broken, actor.scopes)
}

const maxCasesShown = 20

/** 409 `case_broken`: `details` names the cases, with their expected and their new answers. */
function caseBroken(broken: readonly CaseOutcome[], scopes: ReadonlySet<string>): Problem {
  const names = broken.slice(0, 3).map((one) => `\`${one.case}\``)
  const more = broken.length > names.length ? ` and ${broken.length - names.length} more` : ''
  const whose = broken.length === 1 ? 'the required case' : 'the required cases'
  const details = { count: broken.length, cases: broken.slice(0, maxCasesShown).map((one) => visibleTo(scopes, one)) }
  const message = `this would break ${whose} ${names.join(', ')}${more}; nothing is changed`
  return new Problem('case_broken', message, { details })
}
