import type { RDS, RDSClientConfig } from '@aws-sdk/client-rds'
import type { SSM } from '@aws-sdk/client-ssm'
import { createLruCache } from '../kernel/lru-cache.ts'
import type { RoleSession } from './role-session.ts'

/** Services in the accounts of an organization, each called as a role of its account, in a region. The caller destroys the client. */
export type MemberClients = {
  /** Systems Manager sessions. */
  ssm(role_arn: string, region: string): Promise<SSM>
  /** Databases. The role is assumed at once. */
  rds(role_arn: string, region: string): Promise<RDS>
  /** The next client assumes the role again. */
  forget(role_arn: string): void
}

/** Member accounts whose role sessions are cached. */
const maxRoles = 100

/** `configOf`: of a client that acts with the session in a region. */
export function openMemberClients(
  roleOf: (role_arn: string) => RoleSession,
  configOf: (session: RoleSession, region: string) => RDSClientConfig,
): MemberClients {
  const roles = createLruCache<RoleSession>(maxRoles)
  const sessionOf = (role_arn: string): RoleSession => {
    const session = roles.get(role_arn) ?? roleOf(role_arn)
    roles.set(role_arn, session)
    return session
  }
  return {
    async ssm(role_arn, region) {
      const { SSM } = await import('@aws-sdk/client-ssm')
      return new SSM(configOf(sessionOf(role_arn), region))
    },
    async rds(role_arn, region) {
      const session = sessionOf(role_arn)
      await session.credentials()
      const { RDS } = await import('@aws-sdk/client-rds')
      return new RDS(configOf(session, region))
    },
    forget: roles.delete,
  }
}
