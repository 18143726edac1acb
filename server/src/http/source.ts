import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The address of a caller: what the nearest trusted proxy reports, without the port that some add. What is no address is not believed:
 * then it is that of the connection.
 */
export function callerAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const reported = withoutPort(ip)
  return isIP(reported) === 0 ? (socket.remoteAddress ?? 'unknown') : reported
}

/** `192.0.2.1:443` and `[2001:db8::1]:443` without the port, and IPv6 without brackets. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]{1,60})\]|(\d[\d.]{6,14}))(?::\d{1,5})?$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

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
