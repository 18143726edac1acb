import { longVariable } from './race.ts'

/** Parts of bodies that are large, and described by the same schema wherever they occur. */
const shared = ['draft', 'cases']

/** Of a shared part that an earlier operation took, each such place is visited: at least one of every operation. */
const every = 9

/**
 * Whether to visit a place in an operation's body. A draft of policies and a list of policy cases are large and the same in
 * every operation: all their places are visited in the first operation that takes them, and some in each other one. A long run
 * visits all.
 */
export function placesOnce(): (operationId: string, way: readonly (string | number)[]) => boolean {
  const first = new Map<string, string>()
  const seen = new Map<string, number>()
  return (operationId, [part, ...inside]) => {
    if (!shared.includes(String(part)) || inside.length === 0) return true
    if (!first.has(String(part))) first.set(String(part), operationId)
    if (first.get(String(part)) === operationId || process.env[longVariable] !== undefined) return true
    const key = `${operationId} ${part}`
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return nth % every === 0
  }
}
