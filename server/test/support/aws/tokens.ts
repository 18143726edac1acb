import type * as sts from '@aws-sdk/client-sts'
import { type Cloud, hex } from './cloud.ts'
import { refuse } from './model.ts'
import { AwsError, type Call, type Handlers } from './wire.ts'

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
      const trusted = role?.trusts.some((one) => one === caller.arn || one === `arn:aws:iam::${caller.account}:root`)
      const named = role?.external_id === null || role?.external_id === input.ExternalId
      if (role === undefined || trusted !== true || !named)
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
