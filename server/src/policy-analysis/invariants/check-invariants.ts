import { operation } from '../../http/operation.ts'
import { invalidInput } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { periodicYield } from '../../kernel/yield-to-event-loop.ts'
import { maxDraftBodyBytes, withoutIgnoredInDraft } from '../../policies/drafts/draft.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import { applyDraft } from '../../policies/drafts/drafted.ts'
import { draftEvaluator as evaluator } from '../../policy-engine/deciding/evaluate.ts'
import { answerOf, InvariantsAnswer, InvariantsInput, scopesOf } from './invariant.ts'
import { noAutoApproval } from './no-auto-approval.ts'
import { permitsNothingNew } from './permits-nothing-new.ts'
import { type ReadRule, readRules } from './read-rule.ts'
import { openBudget } from './search.ts'

/** The limits of one check: questions decided, and time to prove and to search. */
const bounds = { questions: 2_000, milliseconds: 1_500 }

/** Checks the rules, or those of a draft, against invariants. Stores nothing. */
export const checkInvariants = operation({
  method: 'POST',
  path: '/v1/policies/invariants',
  summary: 'Check the invariants of a rule set, with a counterexample where one does not hold',
  credential: 'any',
  scope: 'policies:read',
  body: InvariantsInput,
  withoutIgnored: withoutIgnoredInDraft,
  bodyLimit: maxDraftBodyBytes,
  replies: { 200: InvariantsAnswer },
  errors: ['invalid_policy', 'unprocessable'],
  async run(ctx, { body: { draft, checks } }) {
    const named = checks.map(({ no_auto_approval }, index) => {
      const { resources = [] } = no_auto_approval ?? {}
      const scopes = scopesOf(resources, `/checks/${index}/no_auto_approval/resources`)
      return scopes.map((scope, place) => ({ scope, tags: resources[place]?.tags ?? {} }))
    })
    const missing = checks.findIndex((check) => check.permits_nothing_new !== undefined)
    if (draft === undefined && missing >= 0)
      throw invalidInput([
        { pointer: `/checks/${missing}/permits_nothing_new`, why: 'needs a `draft` to compare with; send one' },
      ])
    const present = await readPresent(ctx.tx, draft ?? { changes: [] })
    const of = { id: newId(), author: ctx.actor.user_id, pointer: '/draft' }
    const { before, after } = await applyDraft(present, draft ?? { changes: [] }, of)
    await evaluator.rules.prepare(before)
    await evaluator.rules.prepare(after, before)
    const yieldToEventLoop = periodicYield()
    const known = new Map<string, ReadRule>()
    const old = await readRules(before.rules, known, yieldToEventLoop)
    const changed = await readRules(after.rules, known, yieldToEventLoop)
    const answers: ReturnType<typeof answerOf>[] = []
    for (const [index, check] of checks.entries()) {
      const means = { evaluator, budget: openBudget(bounds, yieldToEventLoop), named: named[index] ?? [] }
      const outcome =
        check.no_auto_approval === undefined
          ? await permitsNothingNew({ before, after, old, changed }, means)
          : await noAutoApproval(after, changed, means)
      answers.push(answerOf(outcome))
    }
    return { rule_set_version: before.version, checks: answers }
  },
})
