/** What stands in the slots of a sentence, as text. */
import { readableId } from '../requests/request.ts'
import type { SetUpWords } from '../words/set-up-words.ts'
import { partsOf } from './sentence.ts'
import { type Slot, type Slots, type Template, tag } from './templates.ts'

/** The names of what rules name by id. */
export type Names = {
  groups: ReadonlyMap<string, string>
  roles: ReadonlyMap<string, string>
  accounts: ReadonlyMap<string, string>
  /** Minutes since midnight, as the person reads times. */
  clock: (minutes: number) => string
}

/** A rule as one sentence. A name that is not known is its id. */
export function sentenceText(template: Template, slots: Slots, names: Names, words: SetUpWords): string {
  const parts = partsOf(words.rules.sentences[template])
  return parts
    .map((part) => ('slot' in part ? `${slotText(part.slot, slots, names, words)}${part.marks}` : part.words))
    .join('')
}

export function slotText(slot: Slot, slots: Slots, names: Names, words: SetUpWords): string {
  switch (slot) {
    case 'who':
      return whoText(slots.who, names, words)
    case 'where':
      return whereText(slots.where, names, words)
    case 'action':
      return slots.action
    case 'seconds':
      return words.time.duration(slots.seconds)
    default:
      return names.clock(slots[slot])
  }
}

export function whoText(who: Slots['who'], { groups, roles }: Names, { rules }: SetUpWords): string {
  if (who.kind === 'everyone') return rules.everyone
  if (who.kind === 'group') return rules.group(groups.get(who.id) ?? who.id)
  return rules.role(roles.get(who.id) ?? who.id)
}

export function whereText(where: Slots['where'], { accounts }: Names, { rules }: SetUpWords): string {
  if (where.kind === 'all') return rules.allAccounts
  if (where.kind === 'tag') return rules.tagged(tag, where.value)
  const name = accounts.get(where.id)
  return name === undefined || name === where.id ? readableId(where.id) : `${name} · ${readableId(where.id)}`
}
