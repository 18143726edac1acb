import { parse } from 'yaml'
import { type Cloud, hex } from './cloud.ts'
import { evaluatePolicy } from './policies.ts'

type Role = {
  RoleName: string
  Path: string
  MaxSessionDuration: number
  AssumeRolePolicyDocument: object
  Policies: {
    PolicyName: string
    PolicyDocument: { Statement: { Effect: string; Action: string[]; Resource: string }[] }
  }[]
}
type Template = { AWSTemplateFormatVersion: string; Resources: Record<string, { Type: string; Properties: Role }> }

/** What an administrator of the organization does before the first grant. */
export function administrator(cloud: Cloud) {
  return {
    applyTemplate: (text: string): string[] => applyTemplate(cloud, text),
    /** A session of a role with this path and name, as a machine has it; returns the environment in which the SDK finds it. */
    giveRole(path: string): Record<string, string> {
      const [id, secret, token] = [`ASIA${hex(16).toUpperCase()}`, hex(40), hex(200)]
      const [account, name] = [cloud.management_account, path.replace(/.*\//, '')]
      const principal = `arn:aws:iam::${account}:role/${path}`
      const arn = `arn:aws:sts::${account}:assumed-role/${name}/i-${hex(17)}`
      const session = { token, ends_at: Date.now() + 3_600_000 }
      cloud.keys.set(id, { id, secret, session, caller: { arn, account, actions: null, chained: true, principal } })
      return { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token }
    },
  }
}

/** What CloudFormation makes of a template of roles, in the management account; returns the ARNs. Refuses what is no such template. */
function applyTemplate(cloud: Cloud, text: string): string[] {
  const { AWSTemplateFormatVersion, Resources } = parse(text, { customTags: [getAttribute] }) as Template
  if (AWSTemplateFormatVersion !== '2010-09-09') throw new Error('the template has no known version')
  return Object.values(Resources).map(({ Type, Properties }) => {
    if (Type !== 'AWS::IAM::Role') throw new Error(`the simulator makes no ${Type}`)
    const { RoleName, Path, MaxSessionDuration, AssumeRolePolicyDocument, Policies } = Properties
    const arn = `arn:aws:iam::${cloud.management_account}:role${Path}${RoleName}`
    const statements = Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    if (statements.some(({ Effect, Resource }) => Effect !== 'Allow' || Resource !== '*'))
      throw new Error('the simulator knows no role that may act on some resources only')
    const actions = statements.flatMap(({ Action }) => Action)
    const trust = JSON.stringify(AssumeRolePolicyDocument)
    cloud.roles.set(arn, { arn, external_id: null, trusts: [], trust, actions, max_seconds: MaxSessionDuration })
    return arn
  })
}

/** `!GetAtt` of an output. */
const getAttribute = { tag: '!GetAtt', resolve: (text: string) => text }

/** Whether a trust policy lets a caller in, who is `principal`, with what the call says. */
export function isTrusted(trust: string, principal: string, external_id: string | undefined): boolean {
  const { Statement } = JSON.parse(trust) as { Statement: { Principal: { AWS: string } }[] }
  const [account] = [principal.split(':')[4]]
  const statements = Statement.filter(
    ({ Principal }) => Principal.AWS === principal || Principal.AWS === `arn:aws:iam::${account}:root`,
  )
  const policy = { Statement: statements.map(({ Principal: _, ...rest }) => ({ ...rest, Resource: '*' })) }
  const context = {
    'aws:principalarn': principal,
    ...(external_id !== undefined && { 'sts:externalid': external_id }),
  }
  return evaluatePolicy(JSON.stringify(policy), { action: 'sts:AssumeRole', resource: '*', context }) === 'allow'
}
