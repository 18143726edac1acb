/** The import graph: each name with the names that it imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>

/** The graph of these pairs, each `[importer, imported]`. */
export function graphOf(pairs: Iterable<readonly [string, string]>): ImportGraph {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of pairs) {
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set<string>()).add(to))
  }
  return graph
}

/** One cycle of the graph, as a path (`['a', 'b', 'a']`); undefined if there is none. */
export function findCycle(graph: ImportGraph): string[] | undefined {
  const finished = new Set<string>()
  const path: string[] = []
  const visit = (name: string): string[] | undefined => {
    const begun = path.indexOf(name)
    if (begun >= 0) return [...path.slice(begun), name]
    if (finished.has(name)) return undefined
    path.push(name)
    for (const next of graph.get(name) ?? []) {
      const cycle = visit(next)
      if (cycle !== undefined) return cycle
    }
    path.pop()
    finished.add(name)
    return undefined
  }
  for (const name of graph.keys()) {
    const cycle = visit(name)
    if (cycle !== undefined) return cycle
  }
  return undefined
}
