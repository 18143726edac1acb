import { operation } from '../../http/operation.ts'
import { beside } from '../../kernel/beside.ts'
import { invalidInput } from '../../kernel/errors.ts'
import { newId } from '../../kernel/id.ts'
import { maxDraftBodyBytes, withoutIgnoredInDraft } from '../../policies/drafts/draft.ts'
import { readPresent } from '../../policies/drafts/draft-store.ts'
import type { LiteralFacts } from '../../policy-engine/cedar/question.ts'
import { withLiteralFacts } from '../../policy-facts/policy-facts.flow.ts'
import { type AskedCheck, checkDraft, draftCheckModule } from './check-draft.ts'
import { InvariantsAnswer, InvariantsInput, namedResources } from './invariant.ts'

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
    const asked = checks.map((check, index) => askedOf(check, `/checks/${index}`))
    const missing = checks.findIndex((check) => check.permits_nothing_new !== undefined)
    if (draft === undefined && missing >= 0)
      throw invalidInput([
        { pointer: `/checks/${missing}/permits_nothing_new`, why: 'needs a `draft` to compare with; send one' },
      ])
    const present = await readPresent(ctx.tx, draft ?? { changes: [] })
    const of = { id: newId(), author: ctx.actor.user_id, pointer: '/draft' }
    const check = (literals: LiteralFacts | undefined) => {
      const args: Parameters<typeof checkDraft> = [present, draft ?? { changes: [] }, of, asked, literals]
      return beside.run(ctx.tx.tenant_id, draftCheckModule, checkDraft, args)
    }
    return { rule_set_version: present.version, checks: await withLiteralFacts(ctx, check) }
  },
})

/** A check as it is computed. 400 naming what does not fit. */
function askedOf({ no_auto_approval, approvers }: InvariantsInput['checks'][number], pointer: string): AskedCheck {
  if (no_auto_approval !== undefined) {
    const named = namedResources(no_auto_approval.resources, `${pointer}/no_auto_approval/resources`)
    return { invariant: 'no_auto_approval', named }
  }
  if (approvers === undefined) return { invariant: 'permits_nothing_new' }
  const named = namedResources(approvers.resources, `${pointer}/approvers/resources`)
  return { invariant: 'approvers', named, only: approvers.only }
}
