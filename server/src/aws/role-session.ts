import { randomUUID } from 'node:crypto'
import type { STS } from '@aws-sdk/client-sts'

/** Credentials of an assumed role, until `expiration`. */
export type RoleCredentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string
  expiration: Date
}

/** The role can be assumed with any external id. */
export class OpenRole extends Error {
  constructor(role_arn: string) {
    super(
      `the role ${role_arn} can be assumed without its external id: its trust policy must demand it (\`sts:ExternalId\`), ` +
        'or every user who may set up a provisioner here could act as that role',
    )
    this.name = 'OpenRole'
  }
}

export type RoleSession = {
  /** The cached credentials, or new ones when they expire soon; concurrent callers wait for the same call. */
  credentials(): Promise<RoleCredentials>
  /** Drops the cached credentials, which AWS refused; the next call gets new ones. */
  forget(): void
}

type RoleOptions = {
  role_arn: string
  /** The first one that the role accepts is used: after a rotation, the trust policy may still have the previous one. */
  external_ids: readonly string[]
  session_name: string
  sts(): Promise<STS>
}

const sessionSeconds = 3_600

/** Renewed this long before they expire: longer than any call takes. */
const nearEndSeconds = 300

/**
 * Sessions of a tenant's role. INVARIANT: a role that does not demand the external id is never used. The tenant names the
 * role, and the operator's identity assumes it. Without this rule, a tenant could use a role of the operator, or of another
 * tenant.
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

  /** Tries a random external id, which the role must refuse. */
  const requireGuarded = async () => {
    const isOpen = await assume(randomUUID()).then(() => true, unlessDenied)
    if (isOpen) throw new OpenRole(role_arn)
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
      throw new Error('AWS answered AssumeRole without credentials')
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
