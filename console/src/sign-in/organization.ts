/** What a person enters as their organization: the id of the tenant, its slug, or nothing, where their address says it. */
export type Organization = { tenant_id: string } | { slug: string } | { domain: string } | undefined

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** How to find the tenant; undefined where neither the entry nor the address says it. */
export function readOrganization(entry: string, email: string): Organization {
  const text = entry.trim().toLowerCase()
  if (uuid.test(text)) return { tenant_id: text }
  if (text !== '') return slug.test(text) ? { slug: text } : undefined
  const [, domain] = /^[^@\s]+@([^@\s]+\.[^@\s]+)$/.exec(email.trim()) ?? []
  return domain === undefined ? undefined : { domain: domain.toLowerCase() }
}
