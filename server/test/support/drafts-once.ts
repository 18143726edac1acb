/**
 * Whether a place in the body of an operation is to be walked: a draft of policies is large, and the same wherever one is
 * taken, so that its places are walked in the first operation that takes one.
 */
export function draftsOnce(): (operationId: string, way: readonly (string | number)[]) => boolean {
  let first: string | undefined
  return (operationId, [part, ...inside]) => {
    if (part !== 'draft' || inside.length === 0) return true
    first ??= operationId
    return first === operationId
  }
}
