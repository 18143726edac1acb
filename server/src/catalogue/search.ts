/** A search by the beginnings of words in the name and the id of a resource, and in the action. */
import { invalidInput } from '../kernel/errors.ts'
import { beginningsWithout, searchWords } from '../kernel/search-words.ts'

export type Search = {
  /** Of these actions, those that the search finds on the resource. */
  found(actions: readonly string[], resource_id: string, resource_name: string | null): readonly string[]
}

/**
 * `q` undefined: all is found. A search without words finds nothing, as in other lists.
 * @throws Problem 400 for NUL, as everywhere
 */
export function searchFor(q: string | undefined): Search {
  if (q === undefined) return { found: (actions) => actions }
  if (q.includes('\0')) throw invalidInput([{ pointer: 'q', why: 'contains the character NUL: leave it out' }])
  const asked = searchWords(q)
  if (asked.length === 0) return { found: () => [] }
  const actionsWith = searchAmong()
  return {
    found(actions, resource_id, resource_name) {
      const left = beginningsWithout(searchWords(`${resource_id} ${resource_name ?? ''}`), asked)
      return left.length === 0 ? actions : actionsWith(left, actions)
    },
  }
}

/** Finds actions by their words. Many resources have the same list of actions, of which the same words are left to find. */
function searchAmong(): (beginnings: readonly string[], actions: readonly string[]) => readonly string[] {
  const wordsOf = new Map<string, readonly string[]>()
  const known = new WeakMap<readonly string[], Map<string, readonly string[]>>()
  const lacks = (action: string, beginnings: readonly string[]) => {
    const words = wordsOf.get(action) ?? searchWords(action)
    wordsOf.set(action, words)
    return beginningsWithout(words, beginnings).length > 0
  }
  return (beginnings, actions) => {
    const key = beginnings.join(' ')
    const results = known.get(actions) ?? new Map<string, readonly string[]>()
    const found = results.get(key) ?? actions.filter((action) => !lacks(action, beginnings))
    known.set(actions, results.set(key, found))
    return found
  }
}
