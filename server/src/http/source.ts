import { isIP } from 'node:net'

/**
 * The rate limit key of a caller's address. An IPv4 address counts by itself, in every notation. An IPv6 address counts as its
 * 64-bit network, since a host with one address of the network has them all. All values that are no address count as one source.
 */
export function sourceOf(address: string): string {
  const plain = address.replace(/%.*/s, '')
  const version = isIP(plain)
  if (version === 4) return plain
  if (version !== 6) return 'unknown'
  const groups = groupsOf(plain)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return dotted(groups)
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [left = [], right] = address.split('::').map((half) => (half === '' ? [] : half.split(':').flatMap(numbersOf)))
  if (right === undefined) return left
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}

/** The end of an IPv6 address may be in IPv4 notation. */
function numbersOf(part: string): number[] {
  if (!part.includes('.')) return [Number.parseInt(part, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

function dotted(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}
