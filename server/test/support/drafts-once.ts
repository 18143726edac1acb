/**
 * Whether to visit a place in an operation's body. A draft of policies is large and the same in every operation, so its places
 * are visited only in the first operation that takes a draft.
 */
export function draftsOnce(): (operationId: string, way: readonly (string | number)[]) => boolean {
  let first: string | undefined
  return (operationId, [part, ...inside]) => {
    if (part !== 'draft' || inside.length === 0) return true
    first ??= operationId
    return first === operationId
  }
}
