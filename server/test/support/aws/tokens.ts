import type * as sts from '@aws-sdk/client-sts'
import { type Cloud, hex, type Role } from './cloud.ts'
import { refuse } from './model.ts'
import { isTrusted } from './templates.ts'
import { AwsError, type Call, type Caller, type Handlers } from './wire.ts'

/** Whether the role can be assumed by this caller with this external id. */
function lets(role: Role, { arn, account, principal = arn }: Caller, external_id: string | undefined): boolean {
  if (role.trust !== undefined) return isTrusted(role.trust, principal, external_id)
  const trusted = role.trusts.some((one) => one === arn || one === `arn:aws:iam::${account}:root`)
  return trusted && (role.external_id === null || role.external_id === external_id)
}

/** STS: assuming roles, and the keys of a session. */
export const tokenHandlers = (cloud: Cloud) =>
  ({
    GetCallerIdentity: (_input: sts.GetCallerIdentityRequest, { caller }: Call): sts.GetCallerIdentityResponse => ({
      UserId: 'AIDACKCEVSQ6C2EXAMPLE',
      Account: caller.account,
      Arn: caller.arn,
    }),

    AssumeRole: (input: sts.AssumeRoleRequest, { caller }: Call): sts.AssumeRoleResponse => {
      const role = cloud.roles.get(input.RoleArn ?? '')
      if (role === undefined || !lets(role, caller, input.ExternalId))
        throw new AwsError(
          'AccessDenied',
          `User: ${caller.arn} is not authorized to perform: sts:AssumeRole on resource: ${input.RoleArn}`,
          { status: 403 },
        )
      const { DurationSeconds: seconds = 3600, RoleSessionName: name = '' } = input
      if (seconds > role.max_seconds)
        refuse('sts', 'The requested DurationSeconds exceeds the MaxSessionDuration set for this role.')
      if (caller.chained && seconds > 3600)
        refuse(
          'sts',
          'The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining',
        )
      const [, account = '', path = ''] = /^arn:aws:iam::(\d+):role\/(.+)$/.exec(role.arn) ?? []
      const arn = `arn:aws:sts::${account}:assumed-role/${path.replace(/.*\//, '')}/${name}`
      const [id, secret, token] = [`ASIA${hex(16).toUpperCase()}`, hex(40), hex(200)]
      const ends_at = Date.now() + seconds * 1000
      cloud.keys.set(id, {
        id,
        secret,
        session: { token, ends_at },
        caller: { arn, account, actions: role.actions, chained: true },
      })
      return {
        Credentials: { AccessKeyId: id, SecretAccessKey: secret, SessionToken: token, Expiration: new Date(ends_at) },
        AssumedRoleUser: { AssumedRoleId: `AROAEXAMPLE:${name}`, Arn: arn },
      }
    },
  }) as const satisfies Handlers
