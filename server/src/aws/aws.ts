import type { Identitystore } from '@aws-sdk/client-identitystore'
import type { Organizations } from '@aws-sdk/client-organizations'
import type { SSM } from '@aws-sdk/client-ssm'
import type { SSOAdmin } from '@aws-sdk/client-sso-admin'
import type { Egress } from '../kernel/context.ts'
import { createLruCache } from '../kernel/lru-cache.ts'
import { egressHandler } from './egress-handler.ts'
import { openRoleSession, type RoleSession } from './role-session.ts'

export type { Identitystore, Organizations, SSM, SSOAdmin }

export type AwsOptions = {
  region: string
  /** Where all services are reached, in place of AWS's own addresses. */
  endpoint: string | undefined
  /** The tenant's role, which our own identity assumes. */
  role_arn: string
  /** Those that the role may demand: ours, and for a day after a rotation the one before it. */
  external_ids: readonly string[]
  /** As the tenant's CloudTrail names us. */
  session_name: string
  egress: Egress
}

/**
 * The services of AWS as one tenant's role sees them. Clients are loaded at the first use of each: a service that never
 * speaks to AWS does not pay for them.
 */
export type Aws = {
  /** Sees to it that credentials of the role are at hand. */
  assumeRole(): Promise<unknown>
  /** The next call assumes the role anew. */
  forgetRole(): void
  /** Who the service itself is, before it assumes any role. */
  whoAmI(): Promise<string>
  ssoAdmin(): Promise<SSOAdmin>
  identityStore(): Promise<Identitystore>
  organizations(): Promise<Organizations>
  /** Sessions on machines, by a role of their account, in a region. Whoever asks for one destroys it. */
  ssm(role_arn: string, region: string): Promise<SSM>
  close(): void
}

/** The pace of the one, which limits us, is kept by whoever calls it; the others are tried again by the SDK. */
const once = 1
const thrice = 3

/** Accounts whose sessions are kept at hand. */
const maxMemberRoles = 100

export function openAws(options: AwsOptions): Aws {
  const { region, endpoint, role_arn, external_ids, session_name, egress } = options
  const requestHandler = egressHandler(egress)
  const base = { region, requestHandler, ...(endpoint !== undefined && { endpoint }) }
  const clients = new Map<string, Promise<{ destroy(): void }>>()

  /** The client of that name, made at its first use. */
  const kept = <Client extends { destroy(): void }>(name: string, make: () => Promise<Client>): Promise<Client> => {
    const known = clients.get(name) as Promise<Client> | undefined
    if (known !== undefined) return known
    const made = make()
    clients.set(name, made)
    made.catch(() => clients.delete(name))
    return made
  }
  const sts = () =>
    kept('sts', async () => {
      const { STS } = await import('@aws-sdk/client-sts')
      return new STS({ ...base, maxAttempts: thrice })
    })
  const roleOf = (arn: string) => openRoleSession({ role_arn: arn, external_ids, session_name, sts })
  const role = roleOf(role_arn)
  const memberRoles = createLruCache<RoleSession>(maxMemberRoles)
  const asRole = (session: RoleSession, maxAttempts: number) => {
    return { ...base, maxAttempts, credentials: () => session.credentials() }
  }

  return {
    assumeRole: () => role.credentials(),
    forgetRole() {
      role.forget()
      for (const [name, client] of clients) {
        if (name === 'sts') continue
        clients.delete(name)
        drop(client)
      }
    },
    whoAmI: async () => (await (await sts()).getCallerIdentity({})).Arn ?? 'nobody',
    ssoAdmin: () =>
      kept('sso-admin', async () => {
        const { SSOAdmin } = await import('@aws-sdk/client-sso-admin')
        return new SSOAdmin(asRole(role, once))
      }),
    identityStore: () =>
      kept('identitystore', async () => {
        const { Identitystore } = await import('@aws-sdk/client-identitystore')
        return new Identitystore(asRole(role, thrice))
      }),
    organizations: () =>
      kept('organizations', async () => {
        const { Organizations } = await import('@aws-sdk/client-organizations')
        return new Organizations({ ...asRole(role, thrice), region: homeOfOrganizations(region) })
      }),
    async ssm(arn, where) {
      const session = memberRoles.get(arn) ?? roleOf(arn)
      memberRoles.set(arn, session)
      const { SSM } = await import('@aws-sdk/client-ssm')
      return new SSM({ ...asRole(session, thrice), region: where })
    },
    close() {
      for (const client of clients.values()) drop(client)
      clients.clear()
    },
  }
}

/** Organizations answers in one region of each partition. */
function homeOfOrganizations(region: string): string {
  if (region.startsWith('cn-')) return 'cn-northwest-1'
  return region.startsWith('us-gov-') ? 'us-gov-west-1' : 'us-east-1'
}

function drop(client: Promise<{ destroy(): void }>): void {
  void client.then((one) => one.destroy()).catch(() => undefined)
}
