/** A search by the beginnings of words in the name and the id of a resource, and in the action. */
import { invalidInput } from '../kernel/errors.ts'
import { beginningsWithout, searchWords } from '../kernel/search-words.ts'
import type { FoundEntry } from './catalogue-entry.ts'

/** Whether the search finds an entry. Only what is permitted may be searched: what it costs must not depend on hidden names. */
export type Search = (entry: Pick<FoundEntry, 'resource' | 'resource_name' | 'action'>) => boolean

/**
 * `q` undefined: all is found. Undefined for a search without words: it finds nothing, as in other lists.
 * @throws Problem 400 for NUL, as everywhere
 */
export function searchFor(q: string | undefined): Search | undefined {
  if (q === undefined) return () => true
  if (q.includes('\0')) throw invalidInput([{ pointer: 'q', why: 'contains the character NUL: leave it out' }])
  const asked = searchWords(q)
  if (asked.length === 0) return undefined
  const actionWords = new Map<string, readonly string[]>()
  // Entries of one resource follow each other.
  let last = { text: '', left: beginningsWithout([], asked) }
  return ({ resource, resource_name, action }) => {
    const text = `${resource.id} ${resource_name ?? ''}`
    if (text !== last.text) last = { text, left: beginningsWithout(searchWords(text), asked) }
    const words = actionWords.get(action) ?? searchWords(action)
    actionWords.set(action, words)
    return beginningsWithout(words, last.left).length === 0
  }
}
