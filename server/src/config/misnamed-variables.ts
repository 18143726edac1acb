/** Finds environment variables that resemble ours, such as DATABSE_URL: a setting that is silently ignored is found too late. Pure. */
import { variableTable } from './variables.ts'

const known = Object.keys(variableTable)

const beginningOf = (name: string) => /^[A-Z]+_/.exec(name)?.[0]

/** What a container platform sets for each of its services, such as SALLYPORT_SERVICE_HOST and SALLYPORT_PORT_8080_TCP_ADDR. */
const ofPlatform = /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/
const platformPort = /^(?:tcp|udp|sctp):\/\//

export type Misnamed = { name: string; nearest: string }

/** The variables of this environment that the service does not read, each with the known one that resembles it most. */
export function findMisnamed(env: NodeJS.ProcessEnv = process.env): Misnamed[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (known.includes(name) || ofPlatform.test(name) || platformPort.test(value)) return []
    const nearest = nearestTo(name)
    return nearest === undefined ? [] : [{ name, nearest }]
  })
}

/** By spelling; one that begins like ours is compared with those that begin alike. Undefined: it resembles none. */
function nearestTo(name: string): string | undefined {
  const bare = name.toUpperCase().replace(/^SALLYPORT_/, '')
  const relatives = known.filter((one) => beginningOf(one) !== undefined && beginningOf(one) === beginningOf(bare))
  const [nearest] = (relatives.length > 0 ? relatives : known)
    .map((one) => ({ one, distance: editDistance(bare, one) }))
    .toSorted((a, b) => a.distance - b.distance)
  if (nearest === undefined) return undefined
  // Short words are near to many.
  const isNear = nearest.distance <= (nearest.one.length < 6 ? 0 : 2)
  const beginsLikeOurs = relatives.length > 0 && name.toUpperCase() === name
  return isNear || beginsLikeOurs || name.startsWith('SALLYPORT_') ? nearest.one : undefined
}

/** How many letters must be added, left out, changed, or swapped with their neighbour. */
export function editDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const at = (up: number, back: number) => (up === 0 ? row : rows[i - up])?.[j - back] ?? Number.POSITIVE_INFINITY
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(Math.min(at(1, 0) + 1, at(0, 1) + 1, at(1, 1) + (isSame ? 0 : 1), isSwapped ? at(2, 2) + 1 : Infinity))
    }
    rows.push(row)
  }
  return rows[one.length]?.[other.length] ?? 0
}
