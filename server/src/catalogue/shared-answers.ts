/** The answers of one page, each for all pairs that no rule tells apart: they are evaluated once. */
import type { AskQuestion, Resource } from '../policy-engine/cedar/question.ts'
import { type AskRule, accountAsRead, databaseAsRead } from '../policy-engine/deciding/possible-requests.ts'
import type { PairAnswer } from './catalogue-entry.ts'

export type SharedAnswer = { answer: PairAnswer | undefined }
type Answers = Map<string, SharedAnswer>

export type SharedAnswers = {
  /** Forgets all answers if this is not what they depend on beside rules, resource and action: it may change during a page. */
  dependOn(state: unknown): void
  /** By the kind of a pair. */
  ofPairs: Answers
  /** By the action, for resources that are of one kind among all of these rules. */
  ofResources(rules: readonly AskRule[], question: AskQuestion): Answers
}

export function openSharedAnswers(): SharedAnswers {
  const ofPairs: Answers = new Map()
  const byResource = new Map<string, Answers>()
  let before = ''
  return {
    dependOn(state) {
      const now = JSON.stringify(state)
      if (now === before) return
      ofPairs.clear()
      byResource.clear()
      before = now
    },
    ofPairs,
    ofResources(rules, question) {
      const kind = kindOf(rules, question)
      const answers = byResource.get(kind) ?? new Map()
      byResource.set(kind, answers)
      return answers
    },
  }
}

/** Pairs of one kind get the same answer. `rules`: all that can concern the pair, by their scopes. */
export function kindOf(rules: readonly AskRule[], { resources, action }: AskQuestion): string {
  const [first, ...others] = resources
  return JSON.stringify([
    rules.map(({ serial }) => serial),
    rules.some(({ readsAction, actions }) => readsAction && actions.includes(action)) && action,
    first === undefined || others.length > 0 ? [first?.type, first?.id] : asRead(rules, first),
  ])
}

function asRead(rules: readonly AskRule[], resource: Resource): unknown[] {
  if (resource.type === 'cloud_account') return accountAsRead(rules, resource)
  return resource.type === 'cloud_db_instance' ? databaseAsRead(rules, resource) : [resource.type, resource.id]
}
