import { isIP } from 'node:net'

/** The internal addresses that tenants may use, as the operator lists them in EGRESS_ALLOW. */
export type EgressAllow = { hosts: ReadonlySet<string>; networks: readonly Network[] }

/** An address and its prefix length in bits. */
export type Network = { address: string; bits: number; family: 'ipv4' | 'ipv6' }

const hostForm = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/

/**
 * Reads comma-separated hosts, addresses and networks (CIDR); an empty text means none.
 * @throws Error with a message for the operator
 */
export function readEgressAllow(text: string): EgressAllow {
  const hosts = new Set<string>()
  const networks: Network[] = []
  for (const entry of text.split(',').map((part) => part.trim().toLowerCase())) {
    if (entry === '') continue
    const network = readNetwork(entry)
    if (network !== undefined) networks.push(network)
    else if (hostForm.test(entry) && !/^[\d.]+$/.test(entry)) hosts.add(entry)
    else
      throw new Error(`EGRESS_ALLOW has \`${entry}\`; it takes host names, addresses and networks such as 10.1.0.0/16`)
  }
  return { hosts, networks }
}

function readNetwork(entry: string): Network | undefined {
  const [address = '', bits, more] = entry.split('/')
  const version = isIP(address)
  if (version === 0 || more !== undefined) return undefined
  const maxBits = version === 4 ? 32 : 128
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits)) return undefined
  return { address, bits: bits === undefined ? maxBits : Number(bits), family: version === 4 ? 'ipv4' : 'ipv6' }
}
