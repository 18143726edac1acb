import type { Identitystore, User as StoreUser } from '@aws-sdk/client-identitystore'
import type { Organizations } from '@aws-sdk/client-organizations'
import type { RDS } from '@aws-sdk/client-rds'
import type { SSM } from '@aws-sdk/client-ssm'
import type { SSOAdmin } from '@aws-sdk/client-sso-admin'
import type { Egress } from '../kernel/context.ts'
import { egressHandler } from './egress-handler.ts'
import { openMemberClients } from './member-clients.ts'
import { openRoleSession, type RoleSession } from './role-session.ts'

export type { Identitystore, Organizations, SSOAdmin, StoreUser }

export type AwsOptions = {
  region: string
  /** The address of all services, in place of AWS's own addresses. */
  endpoint: string | undefined
  /** The tenant's role, which the service's own identity assumes. */
  role_arn: string
  /** The external ids that the role may demand: the current one and, for a day after a rotation, the previous one. */
  external_ids: readonly string[]
  /** The service's session name in the tenant's CloudTrail. */
  session_name: string
  egress: Egress
}

/**
 * AWS's services, called as one tenant's role. Each client is loaded at its first use: a deployment that never calls AWS
 * does not pay for them.
 */
export type Aws = {
  /** Makes sure that credentials of the role are available. */
  assumeRole(): Promise<unknown>
  /** The next call assumes the role again, or that of a member account. */
  forgetRole(member_role_arn?: string): void
  /** The ARN of the service's own identity, before it assumes any role. */
  whoAmI(): Promise<string>
  ssoAdmin(): Promise<SSOAdmin>
  identityStore(): Promise<Identitystore>
  organizations(): Promise<Organizations>
  /** Systems Manager sessions, by a role of their account, in a region. The caller destroys the client. */
  ssm(role_arn: string, region: string): Promise<SSM>
  /** The databases of an account, by a role there that is assumed first, in a region. The caller destroys the client. */
  rds(role_arn: string, region: string): Promise<RDS>
  /** AWS's own time in whole seconds, as of the last answer of `ssoAdmin`; undefined before there was one. */
  time(): Date | undefined
  close(): void
}

/** Attempts: the caller rate-limits and retries SSO Admin itself; the SDK retries the other services. */
const once = 1
const thrice = 3

export function openAws(options: AwsOptions): Aws {
  const { region, endpoint, role_arn, external_ids, session_name, egress } = options
  const requestHandler = egressHandler(egress)
  const base = { region, requestHandler, ...(endpoint !== undefined && { endpoint }) }
  const clients = new Map<string, Promise<{ destroy(): void }>>()
  let time: Date | undefined

  /** The cached client of that name, created at its first use. */
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
  const asRole = (session: RoleSession, maxAttempts: number) => {
    return { ...base, maxAttempts, credentials: () => session.credentials() }
  }
  const members = openMemberClients(roleOf, (session, where) => ({ ...asRole(session, thrice), region: where }))

  return {
    assumeRole: () => role.credentials(),
    forgetRole(member_role_arn) {
      if (member_role_arn !== undefined) return members.forget(member_role_arn)
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
        const client = new SSOAdmin(asRole(role, once))
        onDate(client, (date) => {
          if (time === undefined || date > time) time = date
        })
        return client
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
    ssm: members.ssm,
    rds: members.rds,
    time: () => time,
    close() {
      for (const client of clients.values()) drop(client)
      clients.clear()
    },
  }
}

/** Reports the time in the headers of each answer. */
function onDate({ middlewareStack }: SSOAdmin, report: (date: Date) => void): void {
  middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const { headers } = result.response as { headers?: Record<string, string> }
      const date = new Date(headers?.date ?? '')
      if (!Number.isNaN(date.getTime())) report(date)
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
}

/** The region of Organizations, one in each partition. */
function homeOfOrganizations(region: string): string {
  if (region.startsWith('cn-')) return 'cn-northwest-1'
  return region.startsWith('us-gov-') ? 'us-gov-west-1' : 'us-east-1'
}

function drop(client: Promise<{ destroy(): void }>): void {
  void client.then((one) => one.destroy()).catch(() => undefined)
}
