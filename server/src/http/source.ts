import { isIP } from 'node:net'

/**
 * Under what a caller's address is counted: an IPv4 address as it is, however it is written; of an IPv6 one the network of
 * 64 bits, since whoever has one address of it has them all. All that is no address counts as one source.
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

/** The end of an address may be written as an IPv4 one. */
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
