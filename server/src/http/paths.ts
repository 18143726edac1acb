/** A path whose segments are fixed, parameters (`/v1/users/:id`), or open-ended (`/docs/static/*`), and its methods. */
type Route = { pattern: string; segments: readonly string[]; methods: Set<string> }

/** The paths of a server. */
export type Paths = {
  add(pattern: string, methods: readonly string[]): void
  /**
   * The methods of the path, when it does not support this one; undefined when it does, or when the path does not exist.
   * `chosen`: the pattern that the router chose by method and path, which may be less close than one without this method.
   */
  otherMethods(path: string, method: string, chosen: string | undefined): string[] | undefined
}

export function openPaths(): Paths {
  const routes = new Map<string, Route>()
  const closerThan = new Map<string | undefined, Route[]>()

  /** The closest first; of a chosen pattern only those that are closer than itself, which are few. */
  function candidates(chosen: string | undefined): Route[] {
    const known = closerThan.get(chosen)
    if (known !== undefined) return known
    const found = [...routes.values()]
      .filter(({ pattern, segments }) => chosen === undefined || (pattern !== chosen && fits(chosen, segments)))
      .sort((a, b) => (closeness(a) < closeness(b) ? -1 : 1))
    closerThan.set(chosen, found)
    return found
  }

  return {
    add(pattern, methods) {
      const route = routes.get(pattern) ?? { pattern, segments: pattern.split('/'), methods: new Set() }
      for (const method of methods) route.methods.add(method)
      routes.set(pattern, route)
      closerThan.clear()
    },
    otherMethods(path, method, chosen) {
      const segments = path.split('/')
      const closest = candidates(chosen).find(({ pattern }) => fits(pattern, segments))
      return closest === undefined || closest.methods.has(method) ? undefined : [...closest.methods]
    },
  }
}

/**
 * Whether the path spells the fixed segments of its pattern as they are. The router also accepts them percent-encoded
 * (`/v1/%75sers`), but a proxy with rules by path may not, so such a path does not exist. Parameters may be encoded.
 */
export function spellsFixedSegments(path: string, pattern: string): boolean {
  return !path.includes('%') || fits(pattern, path.split('/'))
}

function fits(pattern: string, segments: readonly string[]): boolean {
  const parts = pattern.split('/')
  const isOpen = parts.at(-1) === '*'
  if (isOpen ? segments.length < parts.length : segments.length !== parts.length) return false
  return parts.every((part, index) => (isFixed(part) ? part === segments[index] : segments[index] !== ''))
}

const isFixed = (part: string) => !part.startsWith(':') && part !== '*'

/** Sorts as the router chooses: from the left, a fixed segment before a parameter. */
function closeness({ segments }: Route): string {
  return segments.map((part) => (isFixed(part) ? '0' : part === '*' ? '2' : '1')).join('')
}
