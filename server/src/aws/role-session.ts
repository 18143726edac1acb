import { randomUUID } from 'node:crypto'
import type { STS } from '@aws-sdk/client-sts'

/** Credentials of an assumed role, until `expiration`. */
export type RoleCredentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string
  expiration: Date
}

/** The role lets in whoever may assume roles at all, whatever external id they bring. */
export class OpenRole extends Error {
  constructor(role_arn: string) {
    super(
      `the role ${role_arn} can be assumed without its external id: its trust policy must demand it (\`sts:ExternalId\`), ` +
        'or whoever may set up a provisioner here could act as that role',
    )
    this.name = 'OpenRole'
  }
}

export type RoleSession = {
  /** Those at hand, or new ones when their end is near; who asks at the same time waits for the same call. */
  credentials(): Promise<RoleCredentials>
  /** The next to ask gets new ones: those at hand were refused. */
  forget(): void
}

type RoleOptions = {
  role_arn: string
  /** The first that the role takes counts: after a rotation the trust policy says the one before for a while. */
  external_ids: readonly string[]
  session_name: string
  sts(): Promise<STS>
}

const sessionSeconds = 3_600

/** Renewed when so little is left: longer than any call takes. */
const nearEndSeconds = 300

/**
 * Sessions of a tenant's role. INVARIANT: a role that does not demand the external id is never used. A tenant names the
 * role, and the operator's own identity assumes it: a role of the operator's house, or of another tenant, must not let
 * itself be borrowed so.
 */
export function openRoleSession({ role_arn, external_ids, session_name, sts }: RoleOptions): RoleSession {
  let current: { credentials: Promise<RoleCredentials>; renewAt: number } | undefined

  const assume = async (ExternalId: string) =>
    (await sts()).assumeRole({
      RoleArn: role_arn,
      RoleSessionName: session_name,
      ExternalId,
      DurationSeconds: sessionSeconds,
    })

  /** Tries another external id, which must be refused. */
  const requireGuarded = async () => {
    const letIn = await assume(randomUUID()).then(() => true, unlessDenied)
    if (letIn) throw new OpenRole(role_arn)
  }

  const assumeByAny = async () => {
    const [current = '', ...before] = external_ids
    for (const external_id of before) {
      const answer = await assume(external_id).catch(unlessDenied)
      if (answer !== false) return answer
    }
    return assume(current)
  }

  const renew = async (): Promise<RoleCredentials> => {
    await requireGuarded()
    const { Credentials } = await assumeByAny()
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {}
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || Expiration === undefined) {
      throw new Error('no credentials were answered')
    }
    return {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      expiration: Expiration,
    }
  }

  return {
    credentials() {
      const now = performance.now()
      if (current !== undefined && now < current.renewAt) return current.credentials
      const renewed = { credentials: renew(), renewAt: now + (sessionSeconds - nearEndSeconds) * 1000 }
      current = renewed
      renewed.credentials.catch(() => {
        if (current === renewed) current = undefined
      })
      return renewed.credentials
    },
    forget() {
      current = undefined
    },
  }
}

function unlessDenied(error: Error): false {
  if (/^AccessDenied/.test(error.name)) return false
  throw error
}
