import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { CallOptions, Egress } from '../kernel/context.ts'
import { isPublicAddress, liesIn } from './address.ts'
import type { EgressAllow } from './allow-list.ts'
import { callOut, hostOf, type Resolve } from './call-out.ts'
import { limitedResolve } from './limited-resolve.ts'

const resolveAll: Resolve = (host) => lookup(host, { all: true })

/**
 * Makes the egress guard. Addresses that the operator allows may be internal, and may be called without TLS.
 * @param resolve looks up names; by default as the system does, with limited concurrency
 */
export function openEgress(allow: EgressAllow, resolve = limitedResolve(resolveAll)): Egress {
  const mayReach = (host: string, address: string) =>
    isPublicAddress(address) || allow.hosts.has(host) || liesIn(address, allow.networks)
  const isListed = (host: string) => allow.hosts.has(host) || (isIP(host) !== 0 && liesIn(host, allow.networks))

  const resolveGuarded: Resolve = async (host) => {
    const found = isIP(host) === 0 ? await resolve(host) : [{ address: host, family: isIP(host) }]
    const reachable = found.filter(({ address }) => mayReach(host, address))
    if (reachable.length === 0) throw new Error(`\`${host}\` leads into a network that EGRESS_ALLOW does not list`)
    return reachable
  }

  async function findFault(text: string): Promise<string | undefined> {
    const url = URL.parse(text)
    if (url === null || !['https:', 'http:'].includes(url.protocol)) return 'must be an https address'
    if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
    const host = hostOf(url)
    if (url.protocol === 'http:' && !isListed(host)) return 'must be an https address'
    const found = await resolveGuarded(host).catch((error: NodeJS.ErrnoException) => error)
    if (Array.isArray(found) || found.code !== undefined) return undefined
    return 'leads into a network that only the operator can open, by EGRESS_ALLOW'
  }

  return {
    findFault,
    resolve: resolveGuarded,
    async call(text, options) {
      const url = new URL(text)
      if (url.protocol !== 'https:' && !isListed(hostOf(url))) throw new Error(`\`${url.origin}\` is not https`)
      return callOut(url, resolveGuarded, options)
    },
  }
}

/** Calls an address from the operator's own environment: with the same limits, but to any address. */
export async function callAnywhere(text: string, options: CallOptions): Promise<Response> {
  return callOut(new URL(text), resolveAll, options)
}
