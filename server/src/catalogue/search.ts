/** A search by the beginnings of words in the name and the id of a resource, in the action, and in its description. */
import { invalidInput } from '../kernel/errors.ts'
import { beginningsWithout, searchWords } from '../kernel/search-words.ts'
import type { FoundEntry } from './catalogue-entry.ts'

export type Search = {
  /** Whether it finds an entry. Only what is permitted may be searched: what it costs must not depend on hidden names. */
  finds(entry: Pick<FoundEntry, 'resource' | 'resource_name' | 'action'>): boolean
  /** Those of the actions whose descriptions it has not been given yet. */
  withoutDescription(actions: readonly string[]): string[]
  /** `descriptions`: of these actions, those that have one. */
  addDescriptions(actions: readonly string[], descriptions: ReadonlyMap<string, string>): void
}

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
  /** The words of actions and of their descriptions. */
  const actionWords = new Map<string, readonly string[]>()
  // Entries of one resource follow each other.
  let last = { text: '', left: beginningsWithout([], asked) }
  return {
    finds({ resource, resource_name, action }) {
      const text = `${resource.id} ${resource_name ?? ''}`
      if (text !== last.text) last = { text, left: beginningsWithout(searchWords(text), asked) }
      const words = actionWords.get(action) ?? searchWords(action)
      return beginningsWithout(words, last.left).length === 0
    },
    withoutDescription: (actions) => [...new Set(actions)].filter((action) => !actionWords.has(action)),
    addDescriptions(actions, descriptions) {
      for (const action of actions) actionWords.set(action, searchWords(`${action} ${descriptions.get(action) ?? ''}`))
    },
  }
}
