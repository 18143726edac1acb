/** The changes that were found, counted by action and kind. */
import type { Decision } from '../../policy-engine/deciding/decide.ts'
import type { AccountKind, ActionKind, PersonKind } from './alike.ts'
import { type GainsChange, type Kind, maxNames } from './gains.ts'

type Answer = GainsChange['answer']
export type Outcome = Answer | 'denied'

export function outcomeOf({ allowed, mode }: Decision): Outcome {
  if (!allowed) return 'denied'
  return mode === 'require' ? 'by_approval' : 'at_once'
}

/** Undefined where both are the same. */
export function changeOf(before: Outcome, after: Outcome): { kind: Kind; answer: Answer } | undefined {
  if (before === after) return undefined
  if (after === 'denied') return before === 'denied' ? undefined : { kind: 'loses', answer: before }
  if (before === 'denied') return { kind: 'gains', answer: after }
  return { kind: after === 'at_once' ? 'at_once' : 'needs_approval', answer: after }
}

type Found = Pick<GainsChange, 'kind' | 'answer' | 'emergency'>
type Entry = Found & { action: ActionKind; people: Set<PersonKind>; accounts: Set<AccountKind> }
export type Pair = { person: PersonKind; account: AccountKind; action: ActionKind }

export type Tally = {
  add(pair: Pair, found: Found): void
  /** Whether anybody gains, or needs no person’s approval any more. */
  hasGain(): boolean
  hasChange(): boolean
  changes(): GainsChange[]
}

export function openTally(): Tally {
  const entries = new Map<string, Entry>()
  return {
    add({ person, account, action }, found) {
      const key = JSON.stringify([action.action, found.kind, found.answer, found.emergency])
      const entry = entries.get(key) ?? { ...found, action, people: new Set(), accounts: new Set() }
      entry.people.add(person)
      entry.accounts.add(account)
      entries.set(key, entry)
    },
    hasGain: () => [...entries.values()].some(({ kind }) => kind === 'gains' || kind === 'at_once'),
    hasChange: () => entries.size > 0,
    changes: () => [...entries.values()].flatMap(changesOf).sort(inOrder),
  }
}

/** One for each of the actions that were evaluated together. */
function changesOf({ action, kind, answer, emergency, people, accounts }: Entry): GainsChange[] {
  const byName = [...people].flatMap((one) => one.people).sort((one, other) => one.place - other.place)
  const byRank = [...accounts].flatMap(({ first }) => first).sort((one, other) => one.place - other.place)
  const named = (some: readonly { id: string; name: string }[]) =>
    some.slice(0, maxNames).map(({ id, name }) => ({ id, name }))
  const count = [...accounts].reduce((sum, one) => sum + one.count, 0)
  const counted = {
    people: { count: byName.length, names: named(byName) },
    accounts: { count, names: named(byRank) },
  }
  return action.actions.map((one) => ({ action: one, kind, answer, emergency, ...counted }))
}

const kindOrder: readonly Kind[] = ['gains', 'at_once', 'needs_approval', 'loses']

function inOrder(one: GainsChange, other: GainsChange): number {
  const place = ({ action, kind, answer, emergency }: GainsChange) =>
    `${Number(emergency)} ${action} ${kindOrder.indexOf(kind)} ${answer}`
  return place(one) < place(other) ? -1 : 1
}
