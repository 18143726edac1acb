/** A question without what no rule reads, of which each value costs the engine some microseconds. */
import type { EngineQuestion } from './question.ts'
import type { Reading } from './reading.ts'

/**
 * The question with only those tags of its entities, and scopes of its people, that the rules may read. The schema requires the attribute,
 * so that scopes that no rule reads become an empty set.
 */
export function withoutUnread(question: EngineQuestion, { traits, reads_scopes }: Reading): EngineQuestion {
  const { tags: read } = traits
  const entities = question.entities.map((entity): EngineQuestion['entities'][number] => {
    const { attrs, tags } = entity
    const slim = { ...entity }
    if (!reads_scopes && 'scopes' in attrs) slim.attrs = { ...attrs, scopes: [] }
    // What is read does not name a key with NUL, although a rule may.
    if (read !== 'all' && tags !== undefined)
      slim.tags = Object.fromEntries(Object.entries(tags).filter(([key]) => read.includes(key) || key.includes('\0')))
    return slim
  })
  return { ...question, entities }
}
