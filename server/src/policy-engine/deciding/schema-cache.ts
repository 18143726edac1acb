import type { Engine } from '../cedar/engine.ts'
import { approveAction, schemaWith, unnamedAction } from '../cedar/schema.ts'

/**
 * Preparsed schemas, at most `limit`. The returned function gives the name of the schema for an action: one that rules name,
 * `unnamedAction` or `approve`. A schema holds only that one action, because each further action would make every question a
 * microsecond slower.
 */
export function createSchemaCache(engine: Engine, limit: number): (action: string) => string {
  const names = new Map<string, string>()
  let faults = engine.faults()
  return (action) => {
    if (faults !== engine.faults()) {
      faults = engine.faults()
      names.clear()
    }
    let name = names.get(action)
    if (name === undefined) {
      name = names.size < limit ? `schema-${names.size}` : takeOldest(names)
      const schema = schemaWith([unnamedAction, approveAction, action])
      const free = name
      const answer = engine.use((cedar) => cedar.preparseSchema(free, schema))
      if (answer.type === 'failure') {
        names.clear()
        throw new Error(answer.errors[0]?.message ?? 'the schema does not parse')
      }
    }
    names.delete(action)
    names.set(action, name)
    return name
  }
}

function takeOldest(names: Map<string, string>): string {
  const [action, name] = names.entries().next().value as [string, string]
  names.delete(action)
  return name
}
