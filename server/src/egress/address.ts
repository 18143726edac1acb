import { BlockList, isIP } from 'node:net'
import type { Network } from './allow-list.ts'

/** Every IPv4 network that is not the public internet (the special-purpose registry of IANA). */
const insideNets4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]
/** Networks within the public IPv6 space, 2000::/3, that are not public: protocol assignments, examples, embedded IPv4 addresses. */
const insideNets6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const inside4 = blockList(insideNets4.map((net) => networkOf(net, 'ipv4')))
const inside6 = blockList(insideNets6.map((net) => networkOf(net, 'ipv6')))
const public6 = blockList([{ address: '2000::', bits: 3, family: 'ipv6' }])

/** Whether the address is on the public internet: not loopback, private, link-local or otherwise special. */
export function isPublicAddress(address: string): boolean {
  const plain = unmapped(address)
  const version = isIP(plain)
  if (version === 4) return !inside4.check(plain, 'ipv4')
  return version === 6 && public6.check(plain, 'ipv6') && !inside6.check(plain, 'ipv6')
}

/** Whether the address is in one of the networks. */
export function liesIn(address: string, networks: readonly Network[]): boolean {
  const plain = unmapped(address)
  return isIP(plain) !== 0 && blockList(networks).check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

/** Converts an IPv4-mapped IPv6 address to IPv4, since it reaches the same host. */
function unmapped(address: string): string {
  const [, dotted, high, low] = /^::ffff:(?:([\d.]+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(address) ?? []
  if (dotted !== undefined) return dotted
  if (high === undefined || low === undefined) return address.replace(/%.*/, '')
  const bits = [high, low].flatMap((part) => {
    const number = Number.parseInt(part, 16)
    return [number >> 8, number & 0xff]
  })
  return bits.join('.')
}

function networkOf(text: string, family: Network['family']): Network {
  const [address = '', bits] = text.split('/')
  return { address, bits: Number(bits), family }
}

function blockList(networks: readonly Network[]): BlockList {
  const list = new BlockList()
  for (const { address, bits, family } of networks) list.addSubnet(address, bits, family)
  return list
}
