import type { Ctx, Tx } from '../kernel/context.ts'
import { type Counted, countedPage, countOf, type PageRequest, type PageRows } from '../kernel/page.ts'
import { periodicYield } from '../kernel/yield-to-event-loop.ts'
import { decideApproveInPieces, evaluationsOf } from '../policy-engine/deciding/decide.ts'
import type { RuleSet } from '../policy-engine/deciding/rule-set.ts'
import { readWithRules } from '../policy-engine/deciding/rule-set-store.ts'
import type { PolicyFacts } from '../policy-facts/policy-facts.flow.ts'
import {
  type Decidable,
  findDecidable,
  type InboxFilters,
  readApproverView,
  readWaiting,
  type Waiting,
} from './inbox-store.ts'
import { approveQuestion } from './policy-question.ts'
import { findFactsFor } from './reauthorize-request.flow.ts'
import type { AccessRequestDetail, NamedAccessRequest } from './request.ts'
import { asCaller, holdsScope, noTaintedScope } from './request-approval.flow.ts'
import type { CountedRequest } from './request-list-store.ts'
import { inboxTurns } from './tenant-turns.ts'

/** Pending requests that are examined for one page; then it ends early. */
const maxExamined = 500
/** Evaluations for one page: a request of an unknown account takes up to 200. */
const maxEvaluations = 5_000
/** Rows of the first batch, and of the largest. What a requester gave since is looked up for each row, which can take long. */
const batch = { first: 25, most: 100 }
/** A page that has taken so long ends early. */
const maxMs = 2_000

/**
 * The pending requests that the caller may decide now: those with a high risk first, then the oldest. No connection is held while
 * policy is evaluated. A page may be short, or empty, though more follow.
 */
export function listDecidable(
  ctx: Ctx,
  filters: InboxFilters,
  page: PageRequest,
): Promise<PageRows<NamedAccessRequest>> {
  const { user_id, scopes } = ctx.actor
  if (user_id === null || !scopes.has('requests:approve')) return Promise.resolve({ rows: [], next: undefined })
  return inboxTurns({ tenant_id: ctx.tx.tenant_id, user_id }, () => collectDecidable(ctx, user_id, filters, page))
}

/** How many requests the caller may decide now: as many as a page of the inbox would have. */
export async function countDecidable(ctx: Ctx, filters: InboxFilters): Promise<Counted> {
  return countOf(await listDecidable(ctx, filters, countedPage))
}

/** What a page has so far. `reached`: the key of the last request that was examined. */
type Collected = { rows: NamedAccessRequest[]; reached: readonly string[] | undefined; evaluations: number }

async function collectDecidable(
  ctx: Ctx,
  user_id: string,
  filters: InboxFilters,
  { limit, after }: PageRequest,
): Promise<PageRows<NamedAccessRequest>> {
  const page: Collected = { rows: [], reached: after, evaluations: 0 }
  const began = performance.now()
  let count = 0
  for (let examined = 0; examined < maxExamined && performance.now() - began < maxMs; examined += count) {
    count = examined === 0 ? batch.first : Math.min(examined, batch.most)
    const found = await readBatch(ctx.tx, user_id, filters, { after: page.reached, count })
    if (found === undefined) return { rows: page.rows, next: undefined }
    const mayGoOn = await examine(ctx, found, page, limit)
    if (mayGoOn && found.waiting.length < count) return { rows: page.rows, next: undefined }
    if (!mayGoOn) break
  }
  return { rows: page.rows, next: page.reached }
}

/** Adds the requests of a batch that the caller may decide; false where the page is full, or has taken all its evaluations. */
async function examine(
  ctx: Ctx,
  { waiting, ruleSet }: { waiting: readonly Waiting[]; ruleSet: RuleSet },
  page: Collected,
  limit: number,
): Promise<boolean> {
  const yieldToEventLoop = periodicYield()
  const facts = await findFactsFor(ctx.tx, ruleSet, waiting)
  for (const one of waiting) {
    if (page.rows.length === limit || page.evaluations > maxEvaluations) return false
    const question = questionOf(ctx, one, facts)
    if (question !== undefined) {
      page.evaluations += evaluationsOf(question)
      if ((await decideApproveInPieces(ruleSet, question)).allowed) page.rows.push(one.named)
      await yieldToEventLoop()
    }
    page.reached = one.key
  }
  return true
}

/** A batch of pending requests, with the rules; undefined where there are no more. */
function readBatch(tx: Tx, user_id: string, filters: InboxFilters, from: Parameters<typeof readWaiting>[3]) {
  return readWithRules(tx, async () => {
    const waiting = await readWaiting(tx, user_id, filters, from)
    const [first] = waiting
    return first && { waiting, version: first.version }
  })
}

/** Whether the caller may decide the request, as a question to policy; undefined where they lack the scope, or it is not theirs to decide. */
function questionOf({ actor, now, via, source_ip }: Ctx, one: Decidable | Waiting, facts: PolicyFacts) {
  const { people, requested } = one
  if (people === null || !holdsScope(people.approver)) return undefined
  return approveQuestion(
    asCaller(people.approver, actor),
    people.requester,
    requested,
    { now, via, source_ip },
    { ...one, facts },
  )
}

export const ownRequest = 'it is your own request: another person decides it'

/** A request, and whether the caller may decide it. `waits`: for a decision. `why_not`: in words; null where they may. */
export type MayDecide = { named: CountedRequest; waits: boolean; why_not: string | null }

/** One round trip, and one where the rules need further facts. Undefined where there is no such request. */
export async function findMayDecide(ctx: Ctx, user_id: string, id: string): Promise<MayDecide | undefined> {
  const found = await readWithRules(ctx.tx, () => findDecidable(ctx.tx, id, user_id))
  if (found === undefined) return undefined
  const { named, is_in_time, ruleSet } = found
  const waits = named.status === 'pending' && is_in_time
  const answer = (why_not: string | null) => ({ named, waits, why_not })
  if (named.requester_id === user_id) return answer(ownRequest)
  if (!waits) {
    const now = named.status === 'pending' ? 'expired' : named.status
    return answer(`it is ${now}, and no longer waits for a decision`)
  }
  const question = questionOf(ctx, found, await findFactsFor(ctx.tx, ruleSet, [found]))
  if (question === undefined) return answer(noTaintedScope)
  const { allowed, reasoning } = await decideApproveInPieces(ruleSet, question)
  return answer(allowed ? null : reasoning)
}

/** A request, whether the caller may decide it, and what only those see who may; one round trip more for them. */
export async function findForApprover(ctx: Ctx, user_id: string, id: string): Promise<AccessRequestDetail | undefined> {
  const found = await findMayDecide(ctx, user_id, id)
  if (found === undefined) return undefined
  const { named, why_not } = found
  if (why_not !== null) return { ...named, may_decide: false, why_not }
  return { ...named, may_decide: true, why_not, ...(await readApproverView(ctx.tx, named)) }
}
