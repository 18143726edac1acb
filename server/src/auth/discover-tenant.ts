import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Uuid } from '../http/schema.ts'
import type { TenantName } from '../kernel/context.ts'
import { readMailDomain } from '../kernel/email-address.ts'
import { invalidInput } from '../kernel/errors.ts'
import { slugFault } from '../tenants/slug.ts'

const DiscoveredTenant = Type.Object(
  {
    tenant_id: Uuid,
    sign_in: Type.Enum(['local', 'provider'], {
      description:
        '`provider`: the tenant’s own identity provider is enabled; `local`: sign in with e-mail and password',
    }),
    authorize_url: Type.Optional(
      Type.String({
        description: 'only with `provider`: send the user there, with your `redirect_uri` added to the query',
      }),
    ),
  },
  { title: 'DiscoveredTenant' },
)

/**
 * Finds a tenant for a caller who knows only its slug, or a mail domain of it. A name that leads to no tenant is answered as a tenant with
 * local users: the answer does not reveal which names exist.
 */
export const discoverTenant = operation({
  method: 'GET',
  path: '/v1/auth/discovery',
  summary: 'Find the tenant of a slug or a mail domain, and how to sign in to it',
  credential: 'none',
  scope: null,
  limitedBy: 'discoveries',
  query: Type.Object(
    {
      slug: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'the short name that the operator gave the tenant; either this or `domain`',
        }),
      ),
      domain: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'a mail domain that the operator gave the tenant, never an address; either this or `slug`',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  replies: { 200: DiscoveredTenant },
  errors: [],
  async run(ctx, { query }) {
    const { tenant_id, has_provider } = await ctx.discovery.find(requireName(query))
    if (!has_provider) return { tenant_id, sign_in: 'local' as const }
    const authorize_url = `${ctx.public_url}/v1/auth/authorize?tenant=${tenant_id}`
    return { tenant_id, sign_in: 'provider' as const, authorize_url }
  },
})

/** @throws Problem 400, which never repeats what was sent: it may be the address of a person */
function requireName({ slug, domain }: { slug?: string; domain?: string }): TenantName {
  if (domain !== undefined && slug === undefined) return { kind: 'domain', text: requireDomain(domain) }
  if (slug !== undefined && domain === undefined) return { kind: 'slug', text: requireSlug(slug) }
  throw invalidInput([{ pointer: '', why: 'must have exactly one of `slug` and `domain`' }])
}

function requireDomain(text: string): string {
  const domain = readMailDomain(text)
  if (domain !== undefined) return domain
  const why = text.includes('@')
    ? 'is a whole address; send only what follows the `@`'
    : 'is not a valid domain; use one such as example.com'
  throw invalidInput([{ pointer: 'domain', why }])
}

/** Only ASCII letters have a lower case here: a letter of another script that looks alike stays another one. */
function requireSlug(text: string): string {
  const slug = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const fault = slugFault(slug)
  if (fault !== undefined) throw invalidInput([{ pointer: 'slug', why: fault }])
  return slug
}
