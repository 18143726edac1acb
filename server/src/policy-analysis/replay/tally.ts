/** Counts how a draft changes the answers to questions. Pure. */

import type { Drafted } from '../../policies/drafts/drafted.ts'
import type { Decision } from '../../policy-engine/deciding/decide.ts'
import type { RecordedQuestion } from '../../requests/policy-question.ts'
import {
  type ChangedQuestion,
  type Difference,
  type DraftRule,
  differences,
  maxCounted,
  maxShown,
  type ReplayResult,
} from './replay.ts'

/** A question's answers by the current rules and by the draft. */
export type Answers = { before: Decision; after: Decision }

/** How the decisions of the answers differ; a different text alone is no difference. */
export function differencesOf({ before, after }: Answers, kind: 'ask' | 'approve'): Difference[] {
  if (before.allowed !== after.allowed) return [after.allowed ? 'newly_allowed' : 'newly_denied']
  if (!before.allowed || kind === 'approve') return []
  const found: Difference[] = []
  if (before.mode !== after.mode) found.push(after.mode === 'auto' ? 'loosened' : 'tightened')
  if (before.audit_session !== after.audit_session) found.push(after.audit_session ? 'audit_added' : 'audit_removed')
  return found
}

/** The engine could not answer the question, or one of its parts. */
export function isUndecidable({ before, after }: Answers): boolean {
  return [before, after].some(({ errors }) => errors.some(({ rule_id }) => rule_id === null))
}

export type Counts = Record<Difference, number> & { changed: number }
type Counted<Key> = Map<string, Key & Counts>

/** Counts the answers passed to it; the latest question comes first. */
export function openTally({ before, added, changed, removed, pointers }: Drafted) {
  const drafted = new Map<string, DraftRule>()
  for (const [change, ids] of Object.entries({ added, changed, removed } as const))
    for (const id of ids)
      drafted.set(id, { id, change: change as DraftRule['change'], pointer: pointers.get(id) ?? null })
  const all = { ...noCounts(), questions: 0, unchanged: 0, undecidable: 0 }
  const byRequester: Counted<{ requester_id: string }> = new Map()
  const byResource: Counted<Pick<ChangedQuestion, 'resource'>> = new Map()
  const byRule: Counted<DraftRule> = new Map()
  const shown: ChangedQuestion[] = []

  return {
    add(asked: RecordedQuestion, answers: Answers): void {
      all.questions += 1
      const found = differencesOf(answers, asked.kind)
      if (isUndecidable(answers)) all.undecidable += 1
      else if (found.length === 0) all.unchanged += 1
      else {
        const { resource } = asked.question
        count(all, found)
        countBy(byRequester, asked.requester_id, { requester_id: asked.requester_id }, found)
        countBy(byResource, JSON.stringify([resource.type, resource.id]), { resource }, found)
        for (const id of rulesBehind(answers)) {
          const rule = drafted.get(id)
          if (rule !== undefined) countBy(byRule, id, rule, found)
        }
        if (shown.length < maxShown) shown.push(changedQuestion(asked, answers, found))
      }
    },
    result: (): Omit<ReplayResult, 'approvers'> => ({
      rule_set_version: before.version,
      counts: all,
      rules: { added: added.length, changed: changed.length, removed: removed.length },
      by_requester: mostOf(byRequester),
      by_resource: mostOf(byResource),
      by_rule: mostOf(byRule),
      changed: shown,
    }),
  }
}

/** Every rule that decided one of the answers. */
function rulesBehind({ before, after }: Answers): Set<string> {
  const part = ({ rule_ids, held_by_rule_ids, errors }: Decision) => [
    ...rule_ids,
    ...held_by_rule_ids,
    ...errors.flatMap(({ rule_id }) => rule_id ?? []),
  ]
  return new Set([...part(before), ...part(after)])
}

export function noCounts(): Counts {
  return {
    changed: 0,
    ...(Object.fromEntries(differences.map((difference) => [difference, 0])) as Record<Difference, number>),
  }
}

/** Counts a question whose answers differ in this way. */
export function count(counts: Counts, found: readonly Difference[]): void {
  counts.changed += 1
  for (const difference of found) counts[difference] += 1
}

function countBy<Key extends object>(counted: Counted<Key>, id: string, key: Key, found: readonly Difference[]): void {
  let counts = counted.get(id)
  if (counts === undefined) {
    counts = { ...key, ...noCounts() }
    counted.set(id, counts)
  }
  count(counts, found)
}

function mostOf<Key extends object>(counted: Counted<Key>): { most: (Key & Counts)[]; more: number } {
  const all = [...counted.values()].sort((a, b) => b.changed - a.changed)
  return { most: all.slice(0, maxCounted), more: Math.max(0, all.length - maxCounted) }
}

/** A question whose answers differ, as it is shown. */
export function changedQuestion(asked: RecordedQuestion, answers: Answers, found: Difference[]): ChangedQuestion {
  const { id, request_id, kind, decided_at, requester_id, question } = asked
  return {
    ...{ decision_id: id, request_id, kind, decided_at, requester_id },
    approver_id: asked.kind === 'approve' ? asked.policyQuestion.principal.id : null,
    ...question,
    differences: found,
    before: shownDecision(answers.before),
    after: shownDecision(answers.after),
  }
}

const maxRuleIds = 20
const maxReasoningLength = 500

function shownDecision({ allowed, mode, audit_session, governing_rule_id, rule_ids, reasoning }: Decision) {
  return {
    allowed,
    approval_mode: mode,
    audit_session,
    governing_rule_id,
    rule_ids: rule_ids.slice(0, maxRuleIds),
    reasoning: reasoning.slice(0, maxReasoningLength).toWellFormed(),
  }
}
