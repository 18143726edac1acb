/** A search by the beginnings of words in the name and the id of a resource, in the action, and in its description. */
import { type ActionDescriptions, descriptionOn } from '../actions/action.ts'
import { invalidInput } from '../kernel/errors.ts'
import { beginningsWithout, searchWords } from '../kernel/search-words.ts'
import type { AskedType } from '../policy-engine/cedar/schema.ts'
import type { FoundEntry } from './catalogue-entry.ts'

export type Search = {
  /** Whether it finds an entry. Only what is permitted may be searched: what it costs must not depend on hidden names. */
  finds(entry: Pick<FoundEntry, 'resource' | 'resource_name' | 'action'>): boolean
  /** Those of the actions whose descriptions it has not been given yet. */
  withoutDescription(actions: readonly string[]): string[]
  /** `descriptions`: of these actions. */
  addDescriptions(actions: readonly string[], descriptions: ReadonlyMap<string, ActionDescriptions>): void
}

const undescribed: ActionDescriptions = { own: null, of_set: null }
const all: Search = { finds: () => true, withoutDescription: () => [], addDescriptions: () => undefined }

/**
 * `q` undefined: all is found. Undefined for a search without words: it finds nothing, as in other lists.
 * @throws Problem 400 for NUL, as everywhere
 */
export function searchFor(q: string | undefined): Search | undefined {
  if (q === undefined) return all
  if (q.includes('\0')) throw invalidInput([{ pointer: 'q', why: 'contains the character NUL: leave it out' }])
  const asked = searchWords(q)
  if (asked.length === 0) return undefined
  const described = new Map<string, ActionDescriptions>()
  /** The words of actions and of their descriptions, by both. */
  const wordsOf = new Map<string, readonly string[]>()
  const actionWords = (action: string, type: AskedType) => {
    const text = `${action} ${descriptionOn(type, described.get(action) ?? undescribed) ?? ''}`
    const words = wordsOf.get(text) ?? searchWords(text)
    wordsOf.set(text, words)
    return words
  }
  // Entries of one resource follow each other.
  let last = { text: '', left: beginningsWithout([], asked) }
  return {
    finds({ resource, resource_name, action }) {
      const text = `${resource.id} ${resource_name ?? ''}`
      if (text !== last.text) last = { text, left: beginningsWithout(searchWords(text), asked) }
      return beginningsWithout(actionWords(action, resource.type), last.left).length === 0
    },
    withoutDescription: (actions) => [...new Set(actions)].filter((action) => !described.has(action)),
    addDescriptions(actions, descriptions) {
      for (const action of actions) described.set(action, descriptions.get(action) ?? undescribed)
    },
  }
}
